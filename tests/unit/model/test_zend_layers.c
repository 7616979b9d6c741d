/* test_zend_layers.c - real and used of PHP in the layers, to the byte. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/zend_layers.h"

enum { PAGE = 4096, CHUNK = 2 << 20 };

/* Seven chunks of which six are cached, and one huge block: an idle worker. */
static struct zend_heap_facts sample_heap(void)
{
    struct zend_heap_facts heap = {
        .state = FACT_OK,
        .resident_state = FACT_OK,
        .real_bytes = 7 * CHUNK + 3 * CHUNK,
        .chunks = 1,
        .cached_chunks = 6,
        .small_live_bytes = 3000,
        .small_free_bytes = 1000,
        .run_tail_bytes = PAGE - 4000,
        .small_pages = 1,
        .large_pages = 10,
        .free_pages = 500,
        .huge_bytes = 3 * CHUNK,
        .resident_bytes = 5 * CHUNK + 30 * PAGE,
        .free_resident_bytes = 15 * PAGE,
        .cached_resident_bytes = 2 * CHUNK,
        .huge_resident_bytes = 3 * CHUNK,
    };

    heap.used_bytes = heap.small_live_bytes + 10 * PAGE + heap.huge_bytes;
    return heap;
}

static struct heap_amounts amounts_of(
    struct zend_heap_facts *heap, struct zend_sums *sums)
{
    struct process_facts process = {.zend = {.heaps = heap, .heap_count = 1}};
    struct heap_amounts amounts = {.held.bytes = {0}};

    zend_layers_add(&process, &amounts, sums);
    return amounts;
}

static void real_is_held_and_used_is_in_use_to_the_byte(void **state)
{
    struct zend_heap_facts heap = sample_heap();
    struct zend_sums sums;
    struct heap_amounts amounts = amounts_of(&heap, &sums);

    (void)state;
    assert_int_equal(amounts_total(&amounts.held), heap.real_bytes);
    assert_int_equal(amounts.held.bytes[PART_ZEND_CACHED], 6 * CHUNK);
    assert_int_equal(amounts.held.bytes[PART_ZEND_OVERHEAD], PAGE + PAGE - 4000);
    assert_int_equal(amounts_total(&amounts.in_use), heap.used_bytes);
    assert_int_equal(amounts_total(&amounts.free_resident), 15 * PAGE + 2 * CHUNK);
    assert_int_equal(
        amounts_total(&amounts.never_touched), heap.real_bytes - heap.resident_bytes);
    assert_int_equal(sums.heaps, 1);
    assert_int_equal(sums.with_residency, 1);
    assert_false(sums.stale);
}

static void a_heap_without_a_page_map_is_one_part(void **state)
{
    struct zend_heap_facts heap = sample_heap();
    struct zend_sums sums;

    (void)state;
    heap.state = FACT_STALE;
    heap.plus_minus_bytes = 4096;
    struct heap_amounts amounts = amounts_of(&heap, &sums);
    assert_int_equal(amounts.held.bytes[PART_ZEND_CHUNKS], heap.real_bytes);
    assert_int_equal(amounts_total(&amounts.in_use), heap.used_bytes);
    assert_int_equal(amounts_total(&amounts.free_resident), 0);
    assert_true(sums.stale);
    assert_int_equal(sums.plus_minus_bytes, 4096);
    assert_int_equal(sums.with_residency, 0);
}

static void a_custom_heap_adds_nothing(void **state)
{
    struct zend_heap_facts heap = sample_heap();
    struct zend_sums sums;

    (void)state;
    heap.custom = true;
    heap.state = FACT_ABSENT;
    struct heap_amounts amounts = amounts_of(&heap, &sums);
    assert_int_equal(amounts_total(&amounts.held), 0);
    assert_int_equal(sums.heaps, 0);
}

static void resident_chunks_are_split_and_shares_keep_the_proportion(void **state)
{
    struct zend_heap_facts heap = sample_heap();
    struct process_facts process = {.zend = {.heaps = &heap, .heap_count = 1}};
    const uint64_t chunks = heap.resident_bytes - heap.huge_resident_bytes;
    struct amounts rss = {.bytes = {[PART_ZEND_CHUNKS] = chunks}};
    struct amounts pss = {.bytes = {[PART_ZEND_CHUNKS] = chunks / 2}};

    (void)state;
    zend_layers_split(&process, &rss);
    zend_layers_split(&process, &pss);
    assert_int_equal(amounts_total(&rss), chunks);
    assert_int_equal(rss.bytes[PART_ZEND_CACHED], 2 * CHUNK);
    assert_int_equal(rss.bytes[PART_ZEND_FREE_PAGES], 15 * PAGE);
    assert_int_equal(rss.bytes[PART_ZEND_CHUNKS], 15 * PAGE);
    assert_int_equal(amounts_total(&pss), chunks / 2);
    assert_int_equal(pss.bytes[PART_ZEND_CACHED], CHUNK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_is_held_and_used_is_in_use_to_the_byte),
        cmocka_unit_test(a_heap_without_a_page_map_is_one_part),
        cmocka_unit_test(a_custom_heap_adds_nothing),
        cmocka_unit_test(resident_chunks_are_split_and_shares_keep_the_proportion),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
