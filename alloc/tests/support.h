/*
 * What the allocator's tests share: a random source, an operating system that fails on
 * demand and counts, and short forms.
 */
#ifndef STRATA_TESTS_SUPPORT_H
#define STRATA_TESTS_SUPPORT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <strata/heap.h>

#include "os.h"

#define MIB ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define CHUNK (2 * MIB)

/* The calling thread stays on its CPU for good, and finds again what that CPU keeps. */
void test_stay_on_this_cpu(void);

uint64_t test_random(uint64_t *state);
/* The value of an environment variable, or `otherwise`. */
unsigned long test_setting(const char *name, unsigned long otherwise);

struct strata_heap *test_heap(enum strata_layout layout, size_t limit_bytes);
struct strata_heap_stats test_stats(const struct strata_heap *heap);
/* Bytes a str_repeat() of n characters asks for (php-src, zend_string_safe_alloc). */
size_t test_str_repeat_bytes(size_t characters);
/* Resident bytes of this process which no file backs (resident.h). They are the allocator's
 * own to within little, but for a sanitizer's, which go with every byte touched. */
size_t test_resident_bytes(void);
int test_resident_is_ours(void);

/* Runs `misuse` in a child; passes if it aborts and its stderr holds both texts. */
void test_expect_fatal(
    void (*misuse)(struct strata_heap *), enum strata_layout layout, const char *what);
/* The same of the malloc replacement. */
void test_expect_abort(void (*misuse)(void), const char *what);

/* The fake system: passes on to Linux, counts what is mapped, and fails map, reserve,
 * commit and extend from the nth call on, once or for good; with `all`, purge and unmap as
 * well (of unmap: the kernel fails, and the range is kept). */
struct test_os {
    unsigned long calls;    /* of the four, or six */
    unsigned long fail_at;  /* 0: never */
    int fail_after;         /* also all calls after that one */
    size_t mapped_bytes;    /* map and reserve less unmap */
    unsigned long failures; /* how many calls were failed */
    unsigned long purges;
    int all;
};
extern struct test_os test_os;
void test_os_install(unsigned long fail_at, int fail_after);
/* Should the next call be failed? For calls that are not of struct strata__os_ops. */
int test_os_refuses(void);
void test_os_remove(void);

#endif
