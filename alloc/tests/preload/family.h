/*
 * The family of malloc as these tests call it, and what they write to blocks. The compiler
 * knows the family and would drop calls whose result it can foresee: so they go through pointers.
 */
#ifndef STRATA_TESTS_FAMILY_H
#define STRATA_TESTS_FAMILY_H

#include <stddef.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define SENTINEL 77 /* no errno that the family sets */

extern void *(*volatile call_malloc)(size_t);
extern void *(*volatile call_calloc)(size_t, size_t);
extern void *(*volatile call_realloc)(void *, size_t);
extern void *(*volatile call_reallocarray)(void *, size_t, size_t);
extern void *(*volatile call_memalign)(size_t, size_t);
extern void *(*volatile call_aligned)(size_t, size_t);
extern void *(*volatile call_valloc)(size_t);
extern void *(*volatile call_pvalloc)(size_t);
extern int (*volatile call_posix)(void **, size_t, size_t);
extern void (*volatile call_free)(void *);

/* Around the borders at which allocators change their ways. */
#define TEST_SIZES ((size_t)50)
extern const size_t test_sizes[TEST_SIZES];

/* A pattern for each seed. */
unsigned char test_pattern_at(size_t seed, size_t at);
void test_fill(unsigned char *block, size_t bytes, size_t seed);
int test_is_filled(const unsigned char *block, size_t bytes, size_t seed);
int test_is_zeroed(const unsigned char *block, size_t bytes);

/* The largest alignment that an object of this size can need, 16 at most. */
size_t test_alignment_for(size_t bytes);

/* A test: each function of the family is that of the library STRATA_TEST_MALLOC names. */
void test_allocator_is_the_one_under_test(void **state);

#endif
