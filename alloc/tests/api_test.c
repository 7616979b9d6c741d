/* The API in both layouts: sizes, alignment, realloc, walk, options. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include <strata/heap_walk.h>

static const enum strata_layout layouts[] = {STRATA_LAYOUT_COMPACT, STRATA_LAYOUT_ZEND};

/* Runs a test in both layouts; the heap must be empty again at the end. */
static void in_both(void (*test)(struct strata_heap *))
{
    for (size_t i = 0; i < 2; i++) {
        struct strata_heap *heap = test_heap(layouts[i], 0);
        test(heap);
        assert_int_equal(test_stats(heap).used_bytes, 0);
        assert_int_equal(test_stats(heap).huge_blocks, 0);
        strata_heap_delete(heap);
    }
}

static void sizes(struct strata_heap *heap)
{
    const size_t asked[] = {0, 1, 8, 9, 24, 65, 3072, 3073, 4096, 4097, 2093056, 2093057};
    const size_t usable[] = {
        8, 8, 8, 16, 24, 80, 3072, 4096, 4096, 8192, 2093056, 2097152};
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        char *block = strata_alloc(heap, asked[i]);
        assert_non_null(block);
        assert_int_equal(strata_usable_bytes(heap, block), usable[i]);
        assert_true(test_stats(heap).used_bytes >= usable[i]);
        memset(block, 0x5a, usable[i]);
        strata_free(heap, block);
    }
    strata_free(heap, NULL);
    assert_int_equal(strata_usable_bytes(heap, NULL), 0);
}

static void impossible_sizes(struct strata_heap *heap)
{
    const size_t asked[] = {SIZE_MAX, SIZE_MAX - 7, SIZE_MAX - 4095, SIZE_MAX / 2 + 1,
        SIZE_MAX / 2, (size_t)1 << 47};
    size_t real = test_stats(heap).real_bytes;
    void *block = strata_alloc(heap, 100);
    for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++) {
        errno = 0;
        assert_null(strata_alloc(heap, asked[i]));
        assert_int_equal(errno, ENOMEM);
        assert_null(strata_realloc(heap, block, asked[i]));
        assert_null(strata_alloc_aligned(heap, 64 * PAGE, asked[i]));
        assert_null(strata_calloc(heap, asked[i], 2));
        assert_null(strata_calloc(heap, 3, asked[i]));
    }
    assert_int_equal(test_stats(heap).used_bytes, 112);
    strata_free(heap, block);
    assert_true(test_stats(heap).real_bytes <= real + 2 * PAGE);
}

static void alignments(struct strata_heap *heap)
{
    const size_t asked[] = {0, 1, 24, 100, 3000, 5000, 300000, 3 * MIB};
    for (size_t alignment = 1; alignment <= 8 * MIB; alignment *= 2) {
        void *blocks[8];
        for (size_t i = 0; i < 8; i++) {
            blocks[i] = strata_alloc_aligned(heap, alignment, asked[i]);
            assert_non_null(blocks[i]);
            assert_int_equal((uintptr_t)blocks[i] % alignment, 0);
            assert_true(strata_usable_bytes(heap, blocks[i]) >= asked[i]);
            memset(blocks[i], 1, asked[i]);
        }
        for (size_t i = 0; i < 8; i++) {
            strata_free(heap, blocks[i]);
        }
    }
    errno = 0;
    assert_null(strata_alloc_aligned(heap, 24, 8));
    assert_int_equal(errno, EINVAL);
    assert_null(strata_alloc_aligned(heap, 0, 8));
}

static void calloc_zeroes(struct strata_heap *heap)
{
    for (size_t bytes = 1; bytes < 200000; bytes = bytes * 3 + 1) {
        unsigned char *block = strata_alloc(heap, bytes);
        memset(block, 0xff, bytes);
        strata_free(heap, block);
        block = strata_calloc(heap, 1, bytes);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(block[i], 0);
        }
        strata_free(heap, block);
    }
}

static void realloc_keeps_contents(struct strata_heap *heap)
{
    const size_t steps[] = {1, 24, 25, 64, 900, 3072, 3073, 9000, 4097, 70000, 2 * MIB,
        5 * MIB, 3 * MIB, 100};
    size_t before = 0;
    unsigned char *block = NULL;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        block = strata_realloc(heap, block, steps[i]);
        assert_non_null(block);
        size_t kept = before < steps[i] ? before : steps[i];
        for (size_t at = 0; at < kept; at++) {
            assert_int_equal(block[at], (unsigned char)(at * 7));
        }
        for (size_t at = kept; at < steps[i]; at++) {
            block[at] = (unsigned char)(at * 7);
        }
        before = steps[i];
    }
    strata_free(heap, block);
}

/* A small block stays down to the size of the class below, that size included. */
static void realloc_small_rule(struct strata_heap *heap)
{
    void *block = strata_alloc(heap, 80);
    assert_ptr_equal(strata_realloc(heap, block, 64), block);
    void *moved = strata_realloc(heap, block, 63);
    assert_int_equal(strata_usable_bytes(heap, moved), 64);
    strata_free(heap, moved);
}

static void realloc_in_place(struct strata_heap *heap)
{
    char *block = strata_alloc(heap, 10 * PAGE);
    assert_ptr_equal(strata_realloc(heap, block, 4 * PAGE), block);
    assert_ptr_equal(strata_realloc(heap, block, 40 * PAGE), block);
    assert_int_equal(test_stats(heap).used_bytes, 40 * PAGE);
    char *next = strata_alloc(heap, PAGE);
    assert_ptr_equal(next, block + 40 * PAGE);
    char *moved = strata_realloc(heap, block, 41 * PAGE);
    assert_ptr_not_equal(moved, block);
    assert_int_equal(test_stats(heap).used_bytes, 42 * PAGE);
    assert_int_equal(test_stats(heap).peak_used_bytes, 42 * PAGE);
    strata_free(heap, next);
    strata_free(heap, moved);
}

struct totals {
    size_t live_bytes;
    size_t class_live_bytes;
    size_t free_bytes;
    size_t chunk_bytes;
    size_t visits;
};

static int add(void *context, const struct strata_walk_item *item)
{
    struct totals *totals = context;
    totals->visits++;
    switch (item->kind) {
    case STRATA_WALK_CHUNK:
        totals->chunk_bytes += item->resident_bytes;
        break;
    case STRATA_WALK_SMALL_RUN:
        totals->live_bytes += item->live_blocks * item->block_bytes;
        break;
    case STRATA_WALK_LARGE_RUN:
    case STRATA_WALK_HUGE:
        totals->live_bytes += item->bytes;
        break;
    case STRATA_WALK_FREE_RUN:
        totals->free_bytes += item->resident_bytes;
        break;
    case STRATA_WALK_CLASS:
        totals->class_live_bytes += item->live_blocks * item->block_bytes;
        break;
    case STRATA_WALK_CACHED_CHUNK:
    default:
        break;
    }
    return 0;
}

static int stop_at_third(void *context, const struct strata_walk_item *item)
{
    (void)item;
    return ++*(int *)context == 3 ? 42 : 0;
}

static void walk_adds_up(struct strata_heap *heap)
{
    void *blocks[400];
    for (size_t i = 0; i < 400; i++) {
        blocks[i] = strata_alloc(heap, i * 37 % 5000);
    }
    void *huge = strata_alloc(heap, 5 * MIB);
    for (size_t i = 0; i < 400; i += 3) {
        strata_free(heap, blocks[i]);
    }
    struct totals totals = {0};
    assert_int_equal(strata_heap_walk(heap, add, &totals), 0);
    struct strata_heap_stats stats = test_stats(heap);
    assert_int_equal(totals.live_bytes, stats.used_bytes);
    assert_true(
        totals.class_live_bytes > 0 && totals.class_live_bytes < totals.live_bytes);
    assert_int_equal(totals.free_bytes, stats.free_bytes);
    assert_true(totals.chunk_bytes <= stats.real_bytes);
    int visits = 0;
    assert_int_equal(strata_heap_walk(heap, stop_at_third, &visits), 42);
    assert_int_equal(visits, 3);
    for (size_t i = 0; i < 400; i++) {
        if (i % 3 != 0) {
            strata_free(heap, blocks[i]);
        }
    }
    strata_free(heap, huge);
}

static void end_request_drops_all(struct strata_heap *heap)
{
    for (size_t i = 0; i < 1000; i++) {
        assert_non_null(strata_alloc(heap, i * 13));
    }
    assert_non_null(strata_alloc(heap, 9 * MIB));
    strata_heap_end_request(heap);
    struct strata_heap_stats stats = test_stats(heap);
    assert_int_equal(stats.used_bytes, 0);
    assert_int_equal(stats.peak_used_bytes, 0);
    assert_int_equal(stats.peak_real_bytes, stats.real_bytes);
    void *block = strata_alloc(heap, 100);
    assert_int_equal(test_stats(heap).used_bytes, 112);
    strata_free(heap, block);
}

#define IN_BOTH(name)                                                                    \
    static void name##_in_both(void **state)                                             \
    {                                                                                    \
        (void)state;                                                                     \
        in_both(name);                                                                   \
    }
IN_BOTH(sizes)
IN_BOTH(impossible_sizes)
IN_BOTH(alignments)
IN_BOTH(calloc_zeroes)
IN_BOTH(realloc_keeps_contents)
IN_BOTH(realloc_small_rule)
IN_BOTH(realloc_in_place)
IN_BOTH(walk_adds_up)
IN_BOTH(end_request_drops_all)

static void min_block_16(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct strata_heap_options options = {
            .struct_bytes = sizeof(options), .layout = layouts[i], .min_block_16 = 1};
        struct strata_heap *heap = strata_heap_new(&options);
        void *a = strata_alloc(heap, 0);
        void *b = strata_alloc(heap, 8);
        assert_int_equal(test_stats(heap).used_bytes, 32);
        b = strata_realloc(heap, b, 1);
        assert_int_equal(test_stats(heap).used_bytes, 32);
        assert_int_equal(strata_usable_bytes(heap, b), 16);
        strata_free(heap, strata_alloc_aligned(heap, 8, 1));
        assert_int_equal(test_stats(heap).used_bytes, 32);
        strata_free(heap, a);
        strata_free(heap, b);
        strata_heap_delete(heap);
    }
}

/* A caller compiled against the first version passes shorter structs. */
static void old_callers(void **state)
{
    (void)state;
    struct strata_heap_options options = {
        .struct_bytes = offsetof(struct strata_heap_options, limit_mode),
        .limit_mode = (enum strata_limit_mode)77};
    struct strata_heap *heap = strata_heap_new(&options);
    assert_non_null(heap);
    struct strata_heap_stats stats = {
        .struct_bytes = offsetof(struct strata_heap_stats, hard_limit_bytes),
        .hard_limit_bytes = 4711};
    strata_heap_get_stats(heap, &stats);
    assert_true(stats.real_bytes > 0);
    assert_int_equal(stats.hard_limit_bytes, 4711);
    strata_heap_delete(heap);
    options.struct_bytes = 8;
    errno = 0;
    assert_null(strata_heap_new(&options));
    assert_int_equal(errno, EINVAL);
    options.struct_bytes = sizeof(options);
    assert_null(strata_heap_new(&options));
    heap = strata_heap_new(NULL);
    assert_non_null(heap);
    strata_heap_delete(heap);
    strata_heap_delete(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_in_both),
        cmocka_unit_test(impossible_sizes_in_both),
        cmocka_unit_test(alignments_in_both),
        cmocka_unit_test(calloc_zeroes_in_both),
        cmocka_unit_test(realloc_keeps_contents_in_both),
        cmocka_unit_test(realloc_small_rule_in_both),
        cmocka_unit_test(realloc_in_place_in_both),
        cmocka_unit_test(walk_adds_up_in_both),
        cmocka_unit_test(end_request_drops_all_in_both),
        cmocka_unit_test(min_block_16),
        cmocka_unit_test(old_callers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
