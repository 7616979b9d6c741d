/* test_capture_clock.c - what a full capture is taken for, and what it may cost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/capture_clock.h"

#define MIB UINT64_C(1048576)

enum { CHEAP_US = 1000, COST_US = 100000 };

static struct capture_clock taken;
static struct capture_budget budget;
static struct capture_intervals intervals;

static int setup(void **state)
{
    (void)state;
    taken = (struct capture_clock){0};
    intervals = (struct capture_intervals){.every_ms = 1000, .deep_every_ms = 300000};
    capture_budget_init(&budget, 0);
    return 0;
}

static bool due(uint64_t rss_bytes, int64_t now_ms)
{
    return capture_clock_is_due(&taken, &budget, &intervals, rss_bytes, now_ms);
}

static void note(uint64_t rss_bytes, int64_t now_ms, int64_t cost_us)
{
    capture_clock_note(&taken, &budget, rss_bytes, now_ms, cost_us);
}

static void the_first_and_then_at_the_interval(void **state)
{
    (void)state;
    assert_true(due(200 * MIB, 0));
    note(200 * MIB, 0, COST_US);
    assert_false(due(200 * MIB, 299999));
    assert_true(due(200 * MIB, 300000));
}

/* 199 to 416 MiB within half a minute: 30 ticks of a second. */
static void a_load_of_half_a_minute_is_seen_at_its_height(void **state)
{
    (void)state;
    note(199 * MIB, 0, COST_US);
    for (int64_t second = 1; second <= 30; second++) {
        const uint64_t rss =
            second < 20 ? (199 + 11 * (uint64_t)second) * MIB : 416 * MIB;
        if (due(rss, second * 1000)) {
            note(rss, second * 1000, COST_US);
        }
    }
    assert_in_range(taken.reads, 5, 9);
    assert_in_range(taken.highest_rss_bytes, 416 * MIB * 10 / 11, 416 * MIB);
}

static void a_new_highest_moment_does_not_wait_and_others_do(void **state)
{
    (void)state;
    note(200 * MIB, 0, CHEAP_US);
    assert_false(due(219 * MIB, 1000));
    assert_true(due(220 * MIB, 1000));
    note(220 * MIB, 1000, CHEAP_US);
    assert_false(due(100 * MIB, 6999));
    assert_true(due(100 * MIB, 7000));
    note(100 * MIB, 7000, CHEAP_US);
    assert_false(due(220 * MIB, 8000)); /* as high as before is no new height */
    assert_true(due(220 * MIB, 13000));
}

static void less_than_8_mib_is_no_move(void **state)
{
    (void)state;
    note(10 * MIB, 0, CHEAP_US);
    assert_false(due(17 * MIB, 20000));
    assert_true(due(18 * MIB, 20000));
}

/* Costs of a day of a target that goes up and down without end: 0.25 % and what was saved. */
static void moves_stay_within_the_budget(void **state)
{
    int64_t spent_us = 0;

    (void)state;
    note(200 * MIB, 0, COST_US);
    for (int64_t second = 1; second <= INT64_C(86400); second++) {
        const uint64_t rss = (second / 10 % 2 == 0 ? 200 : 400) * MIB;
        if (due(rss, second * 1000)) {
            note(rss, second * 1000, COST_US);
            spent_us += COST_US;
        }
    }
    assert_in_range(spent_us, 86400 * 2000, 86400 * 2500 + 1500000 + COST_US);
}

static void one_that_costs_more_than_all_that_is_saved_is_paid_for_by_waiting(
    void **state)
{
    (void)state;
    note(200 * MIB, 0, 4000000);
    assert_false(due(900 * MIB, 999999)); /* 4 s less 1.5 s at 2.5 ms a second */
    assert_true(due(900 * MIB, 1001000));
    intervals.forced = true;
    assert_true(due(200 * MIB, 300000));
}

static void the_end_is_seen_unless_it_takes_too_long(void **state)
{
    (void)state;
    note(200 * MIB, 5000, 5000000);
    assert_false(due(200 * MIB, 6000));
    assert_true(capture_clock_is_due_at_end(&taken, 6000));
    assert_false(capture_clock_is_due_at_end(&taken, 5000)); /* of this very tick */
    note(200 * MIB, 5000, 5000001);
    assert_false(capture_clock_is_due_at_end(&taken, 6000));
}

static void a_clock_that_stands_or_runs_back_is_no_credit(void **state)
{
    (void)state;
    note(200 * MIB, 50000, 2000000);
    assert_false(due(900 * MIB, 0));
    assert_false(due(900 * MIB, 50000));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(the_first_and_then_at_the_interval, setup),
        cmocka_unit_test_setup(a_load_of_half_a_minute_is_seen_at_its_height, setup),
        cmocka_unit_test_setup(a_new_highest_moment_does_not_wait_and_others_do, setup),
        cmocka_unit_test_setup(less_than_8_mib_is_no_move, setup),
        cmocka_unit_test_setup(moves_stay_within_the_budget, setup),
        cmocka_unit_test_setup(
            one_that_costs_more_than_all_that_is_saved_is_paid_for_by_waiting, setup),
        cmocka_unit_test_setup(the_end_is_seen_unless_it_takes_too_long, setup),
        cmocka_unit_test_setup(a_clock_that_stands_or_runs_back_is_no_credit, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
