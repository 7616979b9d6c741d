/* Published and recorded figures of Zend MM on a ZEND heap. Sources: php 8.2.36 runs
 * (data/zend-seq.txt, and the tables of 32 strings), the article "Three numbers for one
 * process, and memory_limit reads the middle one" (PHP 8.5.10). */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>

#define STRINGS 32U

#define ENGINE_PAGES 130 /* what PHP 8.2.36 itself has in its first chunk */

/* `real` after `count` strings of this payload beside the engine's own blocks. */
static size_t real_of_strings(size_t characters, size_t count)
{
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    assert_non_null(strata_alloc(heap, ENGINE_PAGES * PAGE));
    for (size_t i = 0; i < count; i++) {
        assert_non_null(strata_alloc(heap, test_str_repeat_bytes(characters)));
    }
    size_t real = test_stats(heap).real_bytes;
    strata_heap_delete(heap);
    return real;
}

static void start(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    struct strata_heap_stats stats = test_stats(heap);
    assert_int_equal(stats.used_bytes, 0);
    assert_int_equal(stats.real_bytes, 2097152);
    assert_int_equal(stats.peak_real_bytes, 2097152);
    assert_int_equal(stats.chunks, 1);
    assert_int_equal(stats.chunk_purchases, 1);
    assert_int_equal(stats.largest_free_run_bytes, 511 * PAGE);
    strata_heap_delete(heap);
}

static void recorded_sequence(void **state)
{
    (void)state;
    FILE *file = fopen(STRATA_TEST_DATA "/zend-seq.txt", "r");
    assert_non_null(file);
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    assert_non_null(strata_alloc(heap, 100 * PAGE));
    void *strings[11] = {NULL};
    char line[128];
    int operations = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        char *rest = NULL;
        long slot = strtol(line, &rest, 10);
        if (slot == 0) {
            continue; /* a comment */
        }
        size_t real = strtoul(rest, NULL, 10);
        if (slot > 0) {
            strings[slot] = strata_alloc(heap, test_str_repeat_bytes(2000000));
        } else {
            strata_free(heap, strings[-slot]);
        }
        assert_int_equal(test_stats(heap).real_bytes, real);
        operations++;
    }
    fclose(file);
    assert_int_equal(operations, 400);
    strata_heap_delete(heap);
}

/* Real moves in steps of one chunk while used grows by 4 KiB. */
static void steps_of_two_mib(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    for (size_t pages = 1; pages <= 4 * 511; pages++) {
        assert_non_null(strata_alloc(heap, PAGE));
        struct strata_heap_stats stats = test_stats(heap);
        assert_int_equal(stats.used_bytes, pages * PAGE);
        assert_int_equal(stats.real_bytes, (pages + 510) / 511 * CHUNK);
    }
    strata_heap_delete(heap);
}

/* The published cliff: 32 strings of 255 and of 256 pages, and the chunks bought for them
 * beyond the one that a heap starts with. */
static void cliff_of_the_article(void **state)
{
    (void)state;
    const size_t payloads[] = {1040384, 1044480, 1048576};
    const size_t bought[] = {15, 31, 31};
    for (size_t i = 0; i < 3; i++) {
        struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
        for (size_t n = 0; n < STRINGS; n++) {
            /* header and terminator: 25 bytes on top, rounded to 8 */
            assert_non_null(strata_alloc(heap, (payloads[i] + 25 + 7) / 8 * 8));
        }
        struct strata_heap_stats stats = test_stats(heap);
        assert_int_equal(stats.chunk_purchases - 1, bought[i]);
        assert_int_equal(stats.real_bytes - CHUNK, bought[i] * CHUNK);
        strata_heap_delete(heap);
    }
    assert_int_equal(31 * CHUNK, 65011712);
}

/* Rows of 60 strings by str_repeat, PHP 8.2.36: real before and after each cliff. */
static void cliffs(void **state)
{
    (void)state;
    const size_t last[] = {1044448, 696288, 520160, 417760};
    const size_t before[] = {65011712, 44040192, 33554432, 27262976};
    const size_t after[] = {125829120, 62914560, 44040192, 33554432};
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(real_of_strings(last[i], 60), before[i]);
        assert_int_equal(real_of_strings(last[i] + 1, 60), after[i]);
    }
}

/* 32 strings, used and real as recorded, less the start (398,000 bytes are the engine). */
static void used_of_strings(void **state)
{
    (void)state;
    const size_t payload[] = {65536, 262144, 1044448, 1044456, 2093024, 2093032, 2097152};
    const size_t pages[] = {17, 65, 255, 256, 511, 511, 513};
    for (size_t i = 0; i < 7; i++) {
        struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
        for (size_t n = 0; n < STRINGS; n++) {
            assert_non_null(strata_alloc(heap, test_str_repeat_bytes(payload[i])));
        }
        struct strata_heap_stats stats = test_stats(heap);
        size_t huge = payload[i] > 2093024 ? STRINGS : 0;
        size_t block = huge > 0 && pages[i] == 511 ? 512 * PAGE : pages[i] * PAGE;
        assert_int_equal(stats.huge_blocks, huge);
        assert_int_equal(stats.used_bytes, STRINGS * block + huge * 24);
        strata_heap_delete(heap);
    }
}

/* 16 MiB of limit: the request that is refused needs 4,096 bytes; what counts is that a
 * chunk does not fit any more. */
static void limit_of_16_mb(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 16777216);
    /* The article's array is a huge block of 2,113,536 bytes, so real has an odd step. */
    assert_non_null(strata_alloc(heap, 2113536));
    size_t blocks = 0;
    while (strata_alloc(heap, PAGE) != NULL) {
        blocks++;
    }
    struct strata_heap_stats stats = test_stats(heap);
    assert_int_equal(stats.real_bytes, 14696448);
    assert_true(stats.real_bytes + CHUNK == 16793600);
    /* One page short of six full chunks: the 24-byte node of the huge block has it. */
    assert_int_equal(blocks, 6 * 511 - 1);
    assert_int_equal(stats.limit_bytes - stats.used_bytes, 16777216 - stats.used_bytes);
    strata_heap_delete(heap);
}

/* A huge block costs its pages and a node of 24 bytes; the node may buy a chunk. */
static void huge_node(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    void *filler = strata_alloc(heap, 511 * PAGE);
    void *huge = strata_alloc(heap, 2093057);
    struct strata_heap_stats stats = test_stats(heap);
    assert_int_equal(stats.used_bytes, 511 * PAGE + CHUNK + 24);
    assert_int_equal(stats.real_bytes, 3 * CHUNK);
    assert_int_equal(stats.chunks, 2);
    strata_free(heap, huge);
    strata_free(heap, filler);
    stats = test_stats(heap);
    assert_int_equal(stats.used_bytes, 0);
    assert_int_equal(stats.peak_used_bytes, 511 * PAGE + CHUNK + 24);
    assert_int_equal(stats.peak_real_bytes, 3 * CHUNK);
    assert_int_equal(stats.real_bytes, 2 * CHUNK);
    strata_heap_delete(heap);
}

/* Small pages stay in their bins until gc, which reports their bytes and gives chunks back. */
static void gc_returns_what_it_collects(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    static void *blocks[20000];
    for (size_t i = 0; i < 20000; i++) {
        blocks[i] = strata_alloc(heap, 320);
    }
    size_t real = test_stats(heap).real_bytes;
    for (size_t i = 0; i < 20000; i++) {
        strata_free(heap, blocks[i]);
    }
    assert_int_equal(test_stats(heap).real_bytes, real);
    /* 20,000 blocks are 312.5 runs of 64 blocks on 5 pages. */
    assert_int_equal(strata_heap_trim(heap), 313 * 5 * PAGE);
    /* One chunk stays cached, as PHP 8.2.36 shows: real 4194304 after gc_mem_caches(). */
    assert_int_equal(test_stats(heap).real_bytes, 4194304);
    assert_int_equal(test_stats(heap).cached_chunks, 1);
    assert_int_equal(strata_heap_trim(heap), 0);
    strata_heap_delete(heap);
}

/* realloc: shrinking a small block by a class shows in the peak, growing it does not. */
static void realloc_peaks(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    void *block = strata_alloc(heap, 100);
    block = strata_realloc(heap, block, 200);
    assert_int_equal(test_stats(heap).used_bytes, 224);
    assert_int_equal(test_stats(heap).peak_used_bytes, 224);
    block = strata_realloc(heap, block, 50);
    assert_int_equal(test_stats(heap).used_bytes, 56);
    assert_int_equal(test_stats(heap).peak_used_bytes, 224 + 56);
    strata_heap_reset_peak(heap);
    assert_int_equal(test_stats(heap).peak_used_bytes, 56);
    block = strata_realloc(heap, block, 2 * CHUNK);
    assert_int_equal(test_stats(heap).used_bytes, 2 * CHUNK + 24);
    assert_int_equal(test_stats(heap).peak_used_bytes, 2 * CHUNK + 24);
    strata_free(heap, block);
    strata_heap_reset_peak(heap);
    block = strata_alloc(heap, 10 * PAGE);
    block = strata_realloc(heap, block, 100);
    assert_int_equal(test_stats(heap).used_bytes, 112);
    assert_int_equal(test_stats(heap).peak_used_bytes, 10 * PAGE);
    strata_free(heap, block);
    strata_heap_delete(heap);
}

/* The published staircase, through the API: 51 chunks, then trivial requests. */
static void staircase(void **state)
{
    (void)state;
    const size_t chunks[] = {26, 13, 7, 4, 2, 1};
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    for (size_t i = 0; i < 51 * (size_t)511; i++) {
        assert_non_null(strata_alloc(heap, PAGE));
    }
    assert_int_equal(test_stats(heap).chunks, 51);
    for (size_t i = 0; i < 6; i++) {
        strata_heap_end_request(heap);
        assert_int_equal(test_stats(heap).real_bytes, chunks[i] * CHUNK);
        assert_int_equal(test_stats(heap).cached_chunks, chunks[i] - 1);
        assert_non_null(strata_alloc(heap, 100));
    }
    strata_heap_delete(heap);
}

/* One step instead: what is huge goes back whole when it is freed or the request ends. */
static void one_step(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_ZEND, 0);
    for (size_t i = 0; i < 24; i++) {
        assert_non_null(strata_alloc(heap, 4 * MIB));
    }
    strata_heap_end_request(heap);
    assert_int_equal(test_stats(heap).real_bytes, CHUNK);
    strata_heap_delete(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(start),
        cmocka_unit_test(recorded_sequence),
        cmocka_unit_test(steps_of_two_mib),
        cmocka_unit_test(cliff_of_the_article),
        cmocka_unit_test(cliffs),
        cmocka_unit_test(used_of_strings),
        cmocka_unit_test(limit_of_16_mb),
        cmocka_unit_test(huge_node),
        cmocka_unit_test(gc_returns_what_it_collects),
        cmocka_unit_test(realloc_peaks),
        cmocka_unit_test(staircase),
        cmocka_unit_test(one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
