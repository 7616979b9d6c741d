/* Limits, soft and hard, and the error callback, in both layouts. */
#include "support.h"

#include <errno.h>
#include <string.h>

static const enum strata_layout layouts[] = {STRATA_LAYOUT_COMPACT, STRATA_LAYOUT_ZEND};

struct seen {
    int calls;
    struct strata_heap_error last;
    char name[32];
    jmp_buf *leave;
};

static void note(void *context, const struct strata_heap_error *error)
{
    struct seen *seen = context;
    seen->calls++;
    seen->last = *error;
    strncpy(seen->name, error->heap_name, sizeof(seen->name) - 1);
    if (seen->leave != NULL) {
        longjmp(*seen->leave, 1);
    }
}

static struct strata_heap *limited(enum strata_layout layout, size_t limit,
    enum strata_limit_mode mode, int percent, struct seen *seen)
{
    struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .layout = layout,
        .limit_bytes = limit,
        .name = "a name which is longer than the 31 bytes kept",
        .limit_mode = mode,
        .hard_limit_percent = percent,
        .on_error = note,
        .on_error_context = seen};
    struct strata_heap *heap = strata_heap_new(&options);
    assert_non_null(heap);
    return heap;
}

static size_t fill(struct strata_heap *heap, size_t bytes)
{
    size_t count = 0;
    while (strata_alloc(heap, bytes) != NULL) {
        count++;
    }
    return count;
}

static void refusal_is_reported(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct strata_heap *heap =
            limited(layouts[i], 8 * MIB, STRATA_LIMIT_STOCK, 0, &seen);
        assert_true(fill(heap, 5 * PAGE) > 350);
        struct strata_heap_stats stats = test_stats(heap);
        assert_true(stats.real_bytes <= 8 * MIB);
        assert_int_equal(stats.limit_bytes, 8 * MIB);
        assert_int_equal(seen.calls, 1);
        assert_int_equal(seen.last.kind, STRATA_ERROR_LIMIT);
        assert_int_equal(seen.last.asked_bytes, 5 * PAGE);
        assert_int_equal(seen.last.used_bytes, stats.used_bytes);
        assert_int_equal(seen.last.real_bytes, stats.real_bytes);
        assert_int_equal(seen.last.limit_bytes, 8 * MIB);
        assert_string_equal(seen.name, "a name which is longer than the");
        errno = 0;
        assert_null(strata_alloc(heap, 3 * MIB));
        assert_int_equal(errno, ENOMEM);
        assert_int_equal(seen.last.asked_bytes, 3 * MIB);
        assert_int_equal(test_stats(heap).used_bytes, stats.used_bytes);
        assert_int_equal(test_stats(heap).peak_used_bytes, stats.peak_used_bytes);
        strata_heap_delete(heap);
    }
}

static void callback_may_leave_by_longjmp(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        jmp_buf leave;
        struct seen seen = {.leave = &leave};
        struct strata_heap *heap =
            limited(layouts[i], 8 * MIB, STRATA_LIMIT_STOCK, 0, &seen);
        void *block = strata_alloc(heap, MIB);
        memset(block, 3, MIB);
        if (setjmp(leave) == 0) {
            strata_realloc(heap, block, 20 * MIB);
            fail();
        }
        assert_int_equal(test_stats(heap).used_bytes, MIB);
        assert_int_equal(((char *)block)[MIB - 1], 3);
        strata_free(heap, block);
        assert_int_equal(test_stats(heap).used_bytes, 0);
        strata_heap_delete(heap);
    }
}

/* Freed memory counts again: before a refusal all that can be collected is collected. */
static void collects_before_it_refuses(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct strata_heap *heap =
            limited(layouts[i], 8 * MIB, STRATA_LIMIT_STOCK, 0, &seen);
        static void *blocks[70000];
        size_t count = 0;
        while ((blocks[count] = strata_alloc(heap, 128)) != NULL) {
            count++;
        }
        assert_int_equal(seen.calls, 1);
        for (size_t n = 0; n < count; n++) {
            strata_free(heap, blocks[n]);
        }
        assert_non_null(strata_alloc(heap, 3 * MIB));
        assert_int_equal(seen.calls, 1);
        strata_heap_delete(heap);
    }
}

static void soft_limit_grants_and_tells_once(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct strata_heap *heap =
            limited(layouts[i], 8 * MIB, STRATA_LIMIT_SOFT_HARD, 0, &seen);
        assert_int_equal(test_stats(heap).hard_limit_bytes, 16 * MIB);
        while (seen.calls == 0) {
            assert_non_null(strata_alloc(heap, 10 * PAGE));
        }
        assert_int_equal(seen.last.kind, STRATA_ERROR_SOFT_LIMIT);
        assert_true(test_stats(heap).real_bytes > 8 * MIB);
        assert_int_equal(strata_heap_take_overrun(heap), 1);
        assert_int_equal(strata_heap_take_overrun(heap), 0);
        /* Asked, so it is told again when it passes the soft limit again. */
        fill(heap, 10 * PAGE);
        assert_int_equal(seen.calls, 3);
        assert_int_equal(seen.last.kind, STRATA_ERROR_HARD_LIMIT);
        assert_in_range(test_stats(heap).real_bytes, 14 * MIB + 1, 16 * MIB);
        strata_heap_end_request(heap);
        assert_int_equal(strata_heap_take_overrun(heap), 0);
        strata_heap_delete(heap);
    }
}

static void hard_limit_percent(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct strata_heap *heap =
        limited(STRATA_LAYOUT_ZEND, 8 * MIB, STRATA_LIMIT_SOFT_HARD, 125, &seen);
    assert_int_equal(test_stats(heap).hard_limit_bytes, 10 * MIB);
    /* Measured with PHP 8.2.36: under 8M the array loop ends with a real peak of 10 MiB. */
    fill(heap, PAGE);
    assert_int_equal(test_stats(heap).real_bytes, 10485760);
    strata_heap_delete(heap);
    struct strata_heap_options options = {
        .struct_bytes = sizeof(options), .hard_limit_percent = 99};
    errno = 0;
    assert_null(strata_heap_new(&options));
    assert_int_equal(errno, EINVAL);
}

/* Stock answers success here and keeps the old limit; and above its limit it refuses
 * nothing any more. */
static void lower_limit_is_stored(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct strata_heap *heap = test_heap(layouts[i], 0);
        for (int request = 0; request < 3; request++) {
            void *block = NULL;
            for (size_t n = 0; n < 5000; n++) {
                block = strata_alloc(heap, PAGE);
                memset(block, 1, PAGE);
            }
            assert_non_null(block);
            strata_heap_end_request(heap);
        }
        assert_true(test_stats(heap).real_bytes > 8 * MIB); /* all of it cached */
        assert_int_equal(strata_heap_set_limit(heap, 4 * MIB), 0);
        assert_int_equal(test_stats(heap).limit_bytes, 4 * MIB);
        assert_true(test_stats(heap).real_bytes <= 4 * MIB);
        assert_true(fill(heap, PAGE) < 1024);
        assert_true(test_stats(heap).real_bytes <= 4 * MIB);
        strata_heap_delete(heap);
    }
}

static void limit_below_real_is_refused(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct strata_heap *heap = test_heap(layouts[i], 64 * MIB);
        void *block = strata_alloc(heap, 9 * MIB);
        assert_int_equal(strata_heap_set_limit(heap, 4 * MIB), -EBUSY);
        assert_int_equal(test_stats(heap).limit_bytes, 64 * MIB);
        assert_non_null(strata_alloc(heap, 20 * MIB));
        strata_free(heap, block);
        assert_int_equal(strata_heap_set_limit(heap, 0), 0);
        assert_int_equal(test_stats(heap).limit_bytes, 0);
        assert_non_null(strata_alloc(heap, 100 * MIB));
        strata_heap_delete(heap);
    }
}

/* A limit lower than what an empty heap holds: it exists, and buys nothing. */
static void limit_below_the_start(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct strata_heap *heap = test_heap(layouts[i], 1);
        size_t real = test_stats(heap).real_bytes;
        fill(heap, PAGE);
        assert_null(strata_alloc(heap, 10 * MIB));
        assert_int_equal(test_stats(heap).real_bytes, real);
        strata_heap_delete(heap);
    }
}

/* Where what is in use leaves no room, giving back would cost held pages for nothing. */
static void r_a_hopeless_request_costs_no_held_pages(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct strata_heap *heap =
        limited(STRATA_LAYOUT_COMPACT, 8 * MIB, STRATA_LIMIT_STOCK, 0, &seen);
    void *stays = strata_alloc(heap, 2 * MIB);
    void *block = strata_alloc(heap, 4 * MIB);
    strata_free(heap, block);
    struct strata_heap_stats before = test_stats(heap);
    assert_true(before.free_bytes > 0);
    assert_null(strata_alloc(heap, 16 * MIB));
    assert_null(strata_alloc(heap, 6 * MIB));
    assert_null(strata_realloc(heap, stays, 16 * MIB));
    struct strata_heap_stats after = test_stats(heap);
    assert_int_equal(seen.calls, 3);
    assert_int_equal(seen.last.kind, STRATA_ERROR_LIMIT);
    assert_memory_equal(&before, &after, sizeof(before));
    /* With all given back there is room. */
    assert_non_null(strata_alloc(heap, 5 * MIB));
    strata_heap_delete(heap);
}

/* Without a limit the kind is not LIMIT, and no limit is 0. */
static void r_what_no_heap_could_hold_is_told_truly(void **state)
{
    (void)state;
    static const struct {
        size_t limit;
        enum strata_limit_mode mode;
        enum strata_error_kind kind;
    } cases[] = {{0, STRATA_LIMIT_STOCK, STRATA_ERROR_SYSTEM},
        {0, STRATA_LIMIT_SOFT_HARD, STRATA_ERROR_SYSTEM},
        {8 * MIB, STRATA_LIMIT_STOCK, STRATA_ERROR_LIMIT},
        {8 * MIB, STRATA_LIMIT_SOFT_HARD, STRATA_ERROR_HARD_LIMIT}};
    for (size_t i = 0; i < 2 * sizeof(cases) / sizeof(cases[0]); i++) {
        size_t limit = cases[i / 2].limit;
        struct seen seen = {0};
        struct strata_heap *heap =
            limited(layouts[i % 2], limit, cases[i / 2].mode, 100, &seen);
        assert_null(strata_calloc(heap, SIZE_MAX, 2));
        assert_int_equal(seen.last.kind, cases[i / 2].kind);
        assert_int_equal(seen.last.limit_bytes, limit);
        assert_int_equal(seen.last.hard_limit_bytes, limit);
        assert_null(strata_alloc(heap, SIZE_MAX));
        assert_int_equal(seen.last.kind, cases[i / 2].kind);
        assert_int_equal(seen.calls, 2);
        strata_heap_delete(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refusal_is_reported),
        cmocka_unit_test(callback_may_leave_by_longjmp),
        cmocka_unit_test(collects_before_it_refuses),
        cmocka_unit_test(soft_limit_grants_and_tells_once),
        cmocka_unit_test(hard_limit_percent),
        cmocka_unit_test(lower_limit_is_stored),
        cmocka_unit_test(limit_below_real_is_refused),
        cmocka_unit_test(limit_below_the_start),
        cmocka_unit_test(r_a_hopeless_request_costs_no_held_pages),
        cmocka_unit_test(r_what_no_heap_could_hold_is_told_truly),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
