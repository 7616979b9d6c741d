/* The unit heap and the metadata below the malloc replacement: what is split and joined, what
 * stays warm, and what goes back. */
#include "support.h"

#include <string.h>

#include "decay.h"
#include "front.h"
#include "front_figures.h"
#include "front_support.h"
#include "limit.h"
#include "metadata.h"
#include "os.h"
#include "units.h"

#define UNIT STRATA__UNIT_BYTES

/* As whoever owns a unit does: pages that are marked are bought. */
static void mark_touched(const char *unit, uint16_t mask)
{
    uint16_t *touched = strata__unitmap_touched(unit);
    strata__limit_return((size_t)__builtin_popcount(*touched) * PAGE);
    assert_int_equal(strata__limit_buy((size_t)__builtin_popcount(mask) * PAGE), 0);
    *touched = mask;
}

static void give_units(char *start, size_t units)
{
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    assert_non_null(span);
    strata__units_give(span, start, units);
}

static void units_coalesce_and_split(void **state)
{
    (void)state;
    struct strata__units_stats before;
    struct strata__units_stats after;
    strata__front_trim();
    strata__units_get_stats(&before);
    char *three = strata__units_take(4, 1);
    char *aligned = strata__units_take(2, 64);
    assert_int_equal((uintptr_t)aligned % (64 * UNIT), 0);
    give_units(three + 3 * UNIT, 1);
    assert_int_equal(strata__units_extend(three, 3, 1), 0);
    mark_touched(three + UNIT, 0x0ff0);
    give_units(three, 4);
    strata__units_get_stats(&after);
    assert_int_equal(after.dirty_bytes, 8 * PAGE);
    strata__units_check();
    give_units(aligned, 2);
    /* A clean span that joins a dirty one is dirty, on either side. */
    char *four = strata__units_take(4, 1);
    for (size_t i = 0; i < 4; i++) {
        mark_touched(four + i * UNIT, 0);
    }
    mark_touched(four + 2 * UNIT, 0x00ff);
    give_units(four + 2 * UNIT, 1);
    give_units(four + UNIT, 1);
    strata__units_check();
    give_units(four + 3 * UNIT, 1);
    give_units(four, 1);
    strata__units_check();
    assert_int_equal(strata__units_purge(UINT32_MAX, 0), 8 * PAGE);
    strata__units_check();
    strata__units_get_stats(&after);
    assert_int_equal(
        after.free_bytes - before.free_bytes, after.mapped_bytes - before.mapped_bytes);
    assert_int_equal(after.dirty_bytes, 0);
}

/* Free pages stay warm up to the recent peak of use and a quarter; the peak is forgotten
 * after two epochs. */
static void warm_memory_follows_the_recent_peak(void **state)
{
    (void)state;
    enum { UNITS = 160 };
    struct strata__units_stats stats;
    strata__front_trim();
    strata__units_set_epoch(100);
    strata__units_set_epoch(101);
    char *start = strata__units_take(UNITS, 1);
    for (size_t i = 0; i < UNITS; i++) {
        mark_touched(start + i * UNIT, 0xffff);
    }
    give_units(start, UNITS);
    strata__units_keep_within_bounds();
    strata__units_get_stats(&stats);
    assert_int_equal(stats.dirty_bytes, UNITS * UNIT);
    strata__units_set_epoch(102);
    strata__units_keep_within_bounds();
    strata__units_get_stats(&stats);
    assert_int_equal(stats.dirty_bytes, UNITS * UNIT);
    strata__units_set_epoch(103);
    strata__units_keep_within_bounds();
    strata__units_get_stats(&stats);
    assert_in_range(stats.dirty_bytes, 3 * MIB / 16, MIB);
    strata__units_check();
    strata__front_trim();
    strata__decay_step(); /* looks go on from their own epoch */
}

/* Of a span that is resident at its high end only, that end is used first. */
static void the_warm_end_is_used_first(void **state)
{
    (void)state;
    strata__front_trim();
    char *three = strata__units_take(4, 1);
    char *guard = three + 3 * UNIT; /* what lies behind is not free */
    mark_touched(three + 2 * UNIT, 0xffff);
    give_units(three, 3);
    char *one = strata__units_take(1, 1);
    assert_ptr_equal(one, three + 2 * UNIT);
    give_units(one, 1);
    give_units(guard, 1);
    strata__units_check();
    strata__front_trim();
}

/* Mappings of descriptors go back at the second look once none of theirs is in use. */
static void descriptors_go_back(void **state)
{
    (void)state;
    enum { COUNT = 4000, BYTES = 1088 };
    static void *taken[COUNT];
    size_t before = strata__metadata_bytes();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            taken[i] = strata__metadata_take(BYTES);
            assert_non_null(taken[i]);
            memset(taken[i], 0xff, BYTES);
        }
        assert_true(strata__metadata_bytes() >= before + (size_t)COUNT * BYTES - MIB / 2);
        size_t resident = test_resident_bytes();
        strata__metadata_sweep(0); /* others may have gone */
        for (size_t i = 1; i < COUNT; i++) {
            strata__metadata_give(taken[i], BYTES);
        }
        assert_int_equal(strata__metadata_sweep(0), 0);
        assert_true(strata__metadata_sweep(0) >= (size_t)COUNT * BYTES - MIB);
        if (test_resident_is_ours()) {
            assert_in_range(test_resident_bytes(), 0, resident - 3 * MIB);
        }
        assert_int_equal(((unsigned char *)taken[0])[BYTES - 1], 0xff);
        strata__metadata_give(taken[0], BYTES);
        strata__metadata_sweep(1);
        assert_in_range(strata__metadata_bytes(), 0, before + MIB);
    }
    strata__front_check();
}

/* Who gives a descriptor back can have a shorter one, although the system gives nothing:
 * so an empty slab can always become a free span. */
static void a_descriptor_given_is_a_descriptor_had(void **state)
{
    (void)state;
    void *longer = strata__metadata_take(STRATA__METADATA_MAX);
    assert_non_null(longer);
    test_os_install(1, 1);
    while (strata__metadata_take(64) != NULL) {
    }
    void *shorter = strata__metadata_exchange(longer, STRATA__METADATA_MAX, 64);
    test_os_remove();
    assert_ptr_equal(shorter, longer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(units_coalesce_and_split),
        cmocka_unit_test(warm_memory_follows_the_recent_peak),
        cmocka_unit_test(the_warm_end_is_used_first),
        cmocka_unit_test(descriptors_go_back),
        cmocka_unit_test(a_descriptor_given_is_a_descriptor_had),
    };
    return test_front_run(tests, sizeof(tests) / sizeof(tests[0]));
}
