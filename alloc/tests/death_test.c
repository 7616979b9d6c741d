/* Misuse ends the process with the heap's name and the address: each case in a child. */
#include "support.h"

#include <string.h>

#include "heap_common.h"

static void *volatile sink;

static void free_twice(struct strata_heap *heap, size_t bytes)
{
    void *block = strata_alloc(heap, bytes);
    sink = strata_alloc(heap, bytes);
    strata_free(heap, block);
    strata_free(heap, block);
}

static void twice_8(struct strata_heap *heap)
{
    free_twice(heap, 8);
}

static void twice_100(struct strata_heap *heap)
{
    free_twice(heap, 100);
}

static void twice_3000(struct strata_heap *heap)
{
    free_twice(heap, 3000);
}

static void twice_large(struct strata_heap *heap)
{
    free_twice(heap, 10 * PAGE);
}

static void twice_huge(struct strata_heap *heap)
{
    free_twice(heap, 5 * MIB);
}

/* The second free comes when the block has long gone home to its run. */
static void free_twice_late(struct strata_heap *heap, size_t bytes)
{
    static void *blocks[2000];
    for (size_t i = 0; i < 2000; i++) {
        blocks[i] = strata_alloc(heap, bytes);
    }
    for (size_t i = 0; i < 2000; i += 2) {
        strata_free(heap, blocks[i]);
    }
    strata_free(heap, blocks[200]);
}

static void twice_late_8(struct strata_heap *heap)
{
    free_twice_late(heap, 8);
}

static void twice_late_100(struct strata_heap *heap)
{
    free_twice_late(heap, 100);
}

static void twice_late_2048(struct strata_heap *heap)
{
    free_twice_late(heap, 2048);
}

/* Every freed 8-byte block of a run, also the one that holds the run's links. */
static void twice_each_of_8(struct strata_heap *heap)
{
    static void *blocks[2000];
    for (size_t i = 0; i < 2000; i++) {
        blocks[i] = strata_alloc(heap, 8);
    }
    for (size_t i = 0; i < 2000; i += 2) {
        strata_free(heap, blocks[i]);
    }
    uint64_t random = (uint64_t)(uintptr_t)heap | 1;
    strata_free(heap, blocks[test_random(&random) % 1000 * 2]);
}

static void twice_realloc(struct strata_heap *heap)
{
    void *block = strata_alloc(heap, 10 * PAGE);
    strata_free(heap, block);
    sink = strata_realloc(heap, block, 20 * PAGE);
}

static void foreign_stack(struct strata_heap *heap)
{
    long on_stack[16];
    strata_free(heap, on_stack);
}

static void foreign_low(struct strata_heap *heap)
{
    strata_free(heap, (void *)64);
}

static void foreign_high(struct strata_heap *heap)
{
    strata_free(heap, (void *)UINTPTR_MAX);
}

static void foreign_chunk_border(struct strata_heap *heap)
{
    strata_free(heap, (void *)(CHUNK * 12345));
}

static void foreign_heap(struct strata_heap *heap)
{
    struct strata_heap *other = strata_heap_new(NULL);
    strata_free(heap, strata_alloc(other, 100));
}

static void foreign_realloc(struct strata_heap *heap)
{
    static char outside[64];
    sink = strata_realloc(heap, outside, 100);
}

static void interior_small(struct strata_heap *heap)
{
    strata_free(heap, (char *)strata_alloc(heap, 100) + 8);
}

static void interior_unaligned(struct strata_heap *heap)
{
    strata_free(heap, (char *)strata_alloc(heap, 100) + 1);
}

static void interior_large(struct strata_heap *heap)
{
    strata_free(heap, (char *)strata_alloc(heap, 10 * PAGE) + PAGE);
}

static void interior_large_16(struct strata_heap *heap)
{
    strata_free(heap, (char *)strata_alloc(heap, 10 * PAGE) + 16);
}

static void interior_huge(struct strata_heap *heap)
{
    strata_free(heap, (char *)strata_alloc(heap, 9 * MIB) + CHUNK);
}

/* The start of a page, which is too short for a block. */
static void before_first_block(struct strata_heap *heap)
{
    char *block = strata_alloc(heap, 24);
    strata_free(heap, (char *)((uintptr_t)block & ~(PAGE - 1)));
}

#if !defined(STRATA__ASAN)
/* These write to freed blocks, which AddressSanitizer itself would report first. */

static void smash(struct strata_heap *heap, size_t bytes, size_t offset, size_t length)
{
    char *a = strata_alloc(heap, bytes);
    char *b = strata_alloc(heap, bytes);
    strata_free(heap, b);
    strata_free(heap, a);
    /* Changes each byte: of a word under a secret, any value may be the one it has. */
    for (size_t i = 0; i < length; i++) {
        a[offset + i] ^= 'A';
    }
    for (int i = 0; i < 3; i++) {
        sink = strata_alloc(heap, bytes);
    }
}

static void write_after_free(struct strata_heap *heap)
{
    smash(heap, 100, 0, 8);
}

static void overflow_by_one(struct strata_heap *heap)
{
    smash(heap, 100, 0, 1);
}

static void overflow_by_two_zeroes(struct strata_heap *heap)
{
    char *a = strata_alloc(heap, 64);
    char *b = strata_alloc(heap, 64);
    strata_free(heap, b);
    memset(a, 0, 64 + 8);
    for (int i = 0; i < 3; i++) {
        sink = strata_alloc(heap, 64);
    }
}

static void write_after_free_8(struct strata_heap *heap)
{
    smash(heap, 8, 0, 8);
}
#endif

struct death {
    const char *name;
    void (*misuse)(struct strata_heap *);
    const char *said;
};

static const struct death deaths[] = {
    {"twice 8", twice_8, "free already"},
    {"twice 100", twice_100, "free already"},
    {"twice 3000", twice_3000, "free already"},
    {"twice large", twice_large, "free page"},
    {"twice huge", twice_huge, "victim"},
    {"twice late 8", twice_late_8, "free already"},
    {"twice late 100", twice_late_100, "free already"},
    {"twice late 2048", twice_late_2048, "victim"},
    {"twice each of 8", twice_each_of_8, "free already"},
    {"twice realloc", twice_realloc, "free page"},
    {"foreign stack", foreign_stack, "no block of it"},
    {"foreign low", foreign_low, "no block of it"},
    {"foreign high", foreign_high, "no block of it"},
    {"foreign border", foreign_chunk_border, "no block of it"},
    {"foreign heap", foreign_heap, "no block of it"},
    {"foreign realloc", foreign_realloc, "no block of it"},
    {"interior small", interior_small, "inside a block"},
    {"interior unaligned", interior_unaligned, "inside a block"},
    {"interior large", interior_large, "inside a block"},
    {"interior large 16", interior_large_16, "inside a block"},
    {"interior huge", interior_huge, "block"},
    {"before first block", before_first_block, "inside a block"},
#if !defined(STRATA__ASAN)
    {"write after free", write_after_free, "write to a free block"},
    {"overflow by one", overflow_by_one, "write to a free block"},
    {"overflow of zeroes", overflow_by_two_zeroes, "write to a free block"},
    {"write after free 8", write_after_free_8, "write to a free block"},
#endif
};

static void misuse_is_fatal(enum strata_layout layout)
{
    for (size_t i = 0; i < sizeof(deaths) / sizeof(deaths[0]); i++) {
        print_message("%s\n", deaths[i].name);
        test_expect_fatal(deaths[i].misuse, layout, deaths[i].said);
    }
}

static void misuse_of_compact(void **state)
{
    (void)state;
    misuse_is_fatal(STRATA_LAYOUT_COMPACT);
}

static void misuse_of_zend(void **state)
{
    (void)state;
    misuse_is_fatal(STRATA_LAYOUT_ZEND);
}

/* A live block which holds the bytes of a link by chance is freed without complaint. */
static void look_alike_is_no_double_free(void **state)
{
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct strata_heap *heap = test_heap((enum strata_layout)layout, 0);
        uint64_t *a = strata_alloc(heap, 100);
        uint64_t *b = strata_alloc(heap, 100);
        strata_free(heap, a);
        strata__track_open(a, 8);
        uint64_t link = *a;
        strata__track_close(a, 8);
        *b = link;
        strata_free(heap, b);
        assert_int_equal(test_stats(heap).used_bytes, 0);
        strata_heap_delete(heap);
    }
}

/* A block that was handed out does not look free, though nobody wrote to it: else each of
 * its frees would search the lists. */
static void unwritten_block_does_not_look_free(void **state)
{
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct strata_heap *heap = test_heap((enum strata_layout)layout, 0);
        static uint64_t *blocks[5000];
        for (int round = 0; round < 3; round++) {
            for (size_t i = 0; i < 5000; i++) {
                blocks[i] = strata_alloc(heap, 136);
                assert_false(strata__link_valid(heap->key, *blocks[i]));
            }
            for (size_t i = 0; i < 5000; i++) {
                strata_free(heap, blocks[i * 7 % 5000]);
            }
        }
        strata_heap_delete(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_of_compact),
        cmocka_unit_test(misuse_of_zend),
        cmocka_unit_test(look_alike_is_no_double_free),
        cmocka_unit_test(unwritten_block_does_not_look_free),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
