/*
 * The statistics region as an outsider sees it, by a second read-only attach of the same
 * segment: after random histories of several threads its figures equal, to the byte, what
 * the test knows of its live blocks, and what the allocator finds when it recounts its
 * bitmaps.
 */
#include "region_support.h"

#include "blockclass.h"
#include "central_figures.h"
#include "front.h"
#include "large_books.h"
#include "units.h"

#define ROUNDS 6

static void equals_a_recount_after_any_history(void **state)
{
    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        test_run_round();
        test_compare_with_live();
        if (round % 2 == 1) {
            strata__front_trim();
            test_compare_with_live();
        }
        test_hand_blocks_on();
    }
    test_region_look();
    assert_true(test_region_seen.units.purged_bytes > 0 &&
                test_region_seen.large.purged_bytes > 0);
}

static void peaks_start_anew(void **state)
{
    (void)state;
    strata__large_reset_peak();
    test_region_look();
    uint64_t peak = test_region_seen.large.peak_bytes;
    void *block = strata__front_alloc(200 * MIB);
    test_region_look();
    assert_int_equal(test_region_seen.large.peak_bytes, peak + 200 * MIB);
    strata__front_free(block);
    strata__large_reset_peak();
    strata__units_reset_peak();
    strata__central_reset_peak(3);
    test_region_look();
    assert_int_equal(test_region_seen.large.peak_bytes,
        test_region_seen.large.large_bytes + test_region_seen.large.huge_bytes);
    assert_int_equal(test_region_seen.units.peak_used_bytes,
        test_region_seen.units.mapped_bytes - test_region_seen.units.free_bytes);
    assert_int_equal(test_region_seen.classes[3].peak_out_blocks,
        test_region_seen.classes[3].slabs * test_region_seen.classes[3].slab_blocks -
            test_region_seen.classes[3].free_blocks +
            test_region_seen.mixed.out_blocks[3]);
}

/* Each place that the directory names is memory of ours, and none is missing. */
static void the_directory_names_all_memory(void **state)
{
    (void)state;
    const struct strata_directory *directory = &strata__shared.directory;
    uint64_t bytes[STRATA_PLACE_HUGE + 1] = {0};
    for (uint32_t i = 0; i < directory->place_count; i++) {
        uint64_t value = directory->places[i].bytes_and_kind;
        bytes[value & STRATA_PLACE_KIND_MASK] += value & ~STRATA_PLACE_KIND_MASK;
    }
    void *huge = strata__front_alloc(100 * MIB);
    test_region_look();
    for (uint32_t i = 0; i < directory->huge_count; i++) {
        uint64_t value = directory->huge[i].bytes_and_kind;
        bytes[STRATA_PLACE_HUGE] += value & ~STRATA_PLACE_KIND_MASK;
    }
    assert_int_equal(directory->places_lost, 0);
    assert_int_equal(bytes[STRATA_PLACE_REGION], test_region_seen.units.mapped_bytes);
    assert_int_equal(bytes[STRATA_PLACE_HUGE], test_region_seen.large.huge_bytes);
    assert_int_equal(bytes[STRATA_PLACE_TABLE] > 0, test_region_seen.table_bytes > 0);
    assert_true(
        bytes[STRATA_PLACE_DESCRIPTOR] + 2 * PAGE >= test_region_seen.descriptor_bytes);
    assert_true(bytes[STRATA_PLACE_MAP] > 0);
    strata__front_free(huge);
}

/* Runs first, while most classes are. */
static void unused_classes_are_shown(void **state)
{
    (void)state;
    test_region_look();
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        assert_int_equal(
            test_region_seen.classes[i].block_bytes, strata__block_classes[i].bytes);
        assert_int_equal(
            test_region_seen.classes[i].slab_blocks, strata__block_classes[i].blocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_classes_are_shown),
        cmocka_unit_test(equals_a_recount_after_any_history),
        cmocka_unit_test(peaks_start_anew),
        cmocka_unit_test(the_directory_names_all_memory),
    };
    test_region_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
