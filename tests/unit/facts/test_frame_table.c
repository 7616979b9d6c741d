/* test_frame_table.c - counting frames: growth, order, what is no frame. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/frame_table.h"

enum { FRAMES = 20000, STEP = 7919 };

static void every_frame_is_counted_once_and_in_order(void **state)
{
    struct frame_table table;

    (void)state;
    frame_table_init(&table);
    /* Scattered, each third frame twice: more than the first capacity holds. */
    for (uint64_t i = 0; i < FRAMES; i++) {
        const uint64_t frame = i * STEP % FRAMES + 1;
        assert_int_equal(frame_table_add(&table, frame), 0);
        if (frame % 3 == 0) {
            assert_int_equal(frame_table_add(&table, frame), 0);
        }
    }
    assert_int_equal(table.count, FRAMES);
    assert_true(table.capacity >= 2 * (size_t)FRAMES);
    assert_int_equal(frame_table_sort(&table), FRAMES);
    for (uint64_t i = 0; i < FRAMES; i++) {
        assert_int_equal(table.places[i].frame, i + 1);
        assert_int_equal(table.places[i].count, (i + 1) % 3 == 0 ? 2 : 1);
    }
    frame_table_release(&table);
}

static void high_frames_are_kept_apart_from_low_ones(void **state)
{
    const uint64_t high = UINT64_C(1) << 39;
    struct frame_table table;

    (void)state;
    frame_table_init(&table);
    assert_int_equal(frame_table_add(&table, high + 5), 0);
    assert_int_equal(frame_table_add(&table, 5), 0);
    assert_int_equal(frame_table_add(&table, high + 5), 0);
    assert_int_equal(frame_table_sort(&table), 2);
    assert_int_equal(table.places[0].frame, 5);
    assert_true(table.places[1].frame == high + 5);
    assert_int_equal(table.places[1].count, 2);
    frame_table_release(&table);
}

static void what_is_no_frame_is_refused(void **state)
{
    struct frame_table table;

    (void)state;
    frame_table_init(&table);
    assert_int_equal(frame_table_add(&table, 0), -ERANGE);
    assert_int_equal(frame_table_add(&table, UINT64_C(1) << 40), -ERANGE);
    assert_int_equal(frame_table_add(&table, UINT64_MAX), -ERANGE);
    assert_int_equal(table.count, 0);
    assert_int_equal(frame_table_sort(&table), 0);
    frame_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_frame_is_counted_once_and_in_order),
        cmocka_unit_test(high_frames_are_kept_apart_from_low_ones),
        cmocka_unit_test(what_is_no_frame_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
