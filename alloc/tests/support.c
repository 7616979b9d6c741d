/* What the allocator's tests share: see support.h. One thread at a time. */
#include "support.h"

#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kept.h"
#include "resident.h"
#include "said.h"
#include "sizeclass.h"

struct test_os test_os;

/* Marsaglia's xorshift64*: tests need a stream that is the same everywhere. */
uint64_t test_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717) >> 16;
}

unsigned long test_setting(const char *name, unsigned long otherwise)
{
    const char *text = getenv(name);
    return text != NULL ? strtoul(text, NULL, 10) : otherwise;
}

struct strata_heap *test_heap(enum strata_layout layout, size_t limit_bytes)
{
    struct strata_heap_options options = {
        .struct_bytes = sizeof(options),
        .layout = layout,
        .limit_bytes = limit_bytes,
        .name = "test",
    };
    struct strata_heap *heap = strata_heap_new(&options);
    assert_non_null(heap);
    return heap;
}

struct strata_heap_stats test_stats(const struct strata_heap *heap)
{
    struct strata_heap_stats stats = {.struct_bytes = sizeof(stats)};
    strata_heap_get_stats(heap, &stats);
    return stats;
}

void test_stay_on_this_cpu(void)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
}

size_t test_str_repeat_bytes(size_t characters)
{
    return characters + 32;
}

size_t test_resident_bytes(void)
{
    return resident_kilobytes() << 10;
}

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#    define SANITIZED 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#        define SANITIZED 1
#    endif
#endif

int test_resident_is_ours(void)
{
#if defined(SANITIZED)
    return 0;
#else
    return 1;
#endif
}

struct victim {
    void (*misuse)(struct strata_heap *);
    enum strata_layout layout;
};

static void misuse_heap(const void *context)
{
    const struct victim *victim = context;
    struct strata_heap_options options = {
        .struct_bytes = sizeof(options), .layout = victim->layout, .name = "victim"};
    victim->misuse(strata_heap_new(&options));
}

static void misuse_malloc(const void *context)
{
    void (*misuse)(void);
    memcpy(&misuse, context, sizeof(misuse));
    misuse();
}

/* Runs in a child, which has to abort and to say both texts, and an address. */
static void expect_abort(
    void (*run)(const void *), const void *context, const char *heap, const char *what)
{
    char text[4096];
    int status = test_said_by_child(run, context, text, sizeof(text));
    if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGABRT ||
        strstr(text, what) == NULL || strstr(text, heap) == NULL ||
        strstr(text, "address 0x") == NULL) {
        fail_msg("status %d, said: %s; wanted: %s", status, text, what);
    }
}

void test_expect_fatal(
    void (*misuse)(struct strata_heap *), enum strata_layout layout, const char *what)
{
    const struct victim victim = {.misuse = misuse, .layout = layout};
    expect_abort(misuse_heap, &victim, "heap 'victim'", what);
}

void test_expect_abort(void (*misuse)(void), const char *what)
{
    expect_abort(misuse_malloc, &misuse, "heap 'malloc'", what);
}

/* ---- the fake system ---- */

int test_os_refuses(void)
{
    test_os.calls++;
    int hit = test_os.fail_at != 0 &&
              (test_os.calls == test_os.fail_at ||
                  (test_os.fail_after && test_os.calls > test_os.fail_at));
    test_os.failures += (unsigned long)hit;
    return hit;
}

static void *fake_map(size_t bytes, size_t alignment)
{
    void *address = test_os_refuses() ? NULL : strata__os_linux.map(bytes, alignment);
    test_os.mapped_bytes += address != NULL ? bytes : 0;
    return address;
}

static void *fake_reserve(size_t bytes)
{
    void *address = test_os_refuses() ? NULL : strata__os_linux.reserve(bytes);
    test_os.mapped_bytes += address != NULL ? bytes : 0;
    return address;
}

static void fake_unmap(void *address, size_t bytes)
{
    if (test_os.all && test_os_refuses()) {
        strata__kept_add(address, bytes);
    } else {
        strata__os_linux.unmap(address, bytes);
    }
    test_os.mapped_bytes -= bytes;
}

static int fake_commit(void *address, size_t bytes)
{
    return test_os_refuses() ? -12 : strata__os_linux.commit(address, bytes);
}

static int fake_purge(void *address, size_t bytes)
{
    test_os.purges++;
    if (test_os.all && test_os_refuses()) {
        return -12;
    }
    return strata__os_linux.purge(address, bytes);
}

static int fake_extend(void *address, size_t old_bytes, size_t new_bytes)
{
    int result =
        test_os_refuses() ? -12 : strata__os_linux.extend(address, old_bytes, new_bytes);
    test_os.mapped_bytes += result == 0 ? new_bytes - old_bytes : 0;
    return result;
}

static uint64_t fake_secret(void)
{
    return UINT64_C(0x5DEECE66D1234567);
}

static const struct strata__os_ops fake = {
    .map = fake_map,
    .reserve = fake_reserve,
    .unmap = fake_unmap,
    .commit = fake_commit,
    .purge = fake_purge,
    .extend = fake_extend,
    .secret = fake_secret,
};

void test_os_install(unsigned long fail_at, int fail_after)
{
    test_os = (struct test_os){.fail_at = fail_at, .fail_after = fail_after};
    strata__os = &fake;
}

void test_os_remove(void)
{
    strata__os = &strata__os_linux;
}
