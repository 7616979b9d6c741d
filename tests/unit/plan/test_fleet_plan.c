/* test_fleet_plan.c - moments of many hosts as one plan. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/fleet_plan.h"

#define MIB UINT64_C(1048576)

enum { MOMENTS = 100 };

static struct region region;
static struct fleet_moment moments[MOMENTS];
static struct fleet fleet;
static struct plan_input input;
static struct plan plan;

static int setup(void **state)
{
    (void)state;
    region_init(&region, 1 << 20);
    fleet = (struct fleet){
        .name = "www", .moments = moments, .count = MOMENTS, .hosts = 3, .days = 7};
    for (size_t i = 0; i < MOMENTS; i++) {
        /* ten workers of 10 MiB; in one moment of ten all are 30 MiB */
        const uint64_t each = (i % 10 == 0 ? 30 : 10) * MIB;
        moments[i] = (struct fleet_moment){.private_bytes = 10 * each,
            .unique_bytes = 10 * each + 40 * MIB,
            .tables_bytes = 10 * 112 * 1024,
            .workers = 10};
    }
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    region_release(&region);
    return 0;
}

static void make(uint64_t limit)
{
    const struct plan_wishes wishes = {.limit_bytes = limit};

    assert_int_equal(fleet_plan_input(&region, &fleet, &wishes, &input), 0);
    plan_make(&input, PLAN_P95, &plan);
}

static void crowds_count(void **state)
{
    (void)state;
    make(1000 * MIB);
    assert_int_equal(input.private_count, MOMENTS);
    assert_int_equal(plan.fixed_bytes, 40 * MIB);
    assert_int_equal(input.kernel_bytes, 128 * 1024);
    assert_int_equal(input.workers_now, 10);
    /* mean 12 MiB, but the moments of 30 are moments of all: 960 / 30.1 */
    assert_int_equal(plan.cases[PLAN_EXPECTED].workers, 79);
    assert_in_range(plan.cases[PLAN_P95].workers, 31, 32);
    assert_int_equal(plan.cases[PLAN_WORST].workers, 31);
    assert_non_null(strstr(input.source, "100 moments of 3 hosts in 7 days"));
}

static void heaps_tell_the_limit(void **state)
{
    (void)state;
    moments[5].real_bytes = 48 * MIB;
    moments[6].limit_bytes = 64 * MIB;
    make(1000 * MIB);
    assert_int_equal(plan.limit.advised_bytes, 60 * MIB);
    assert_true(plan.worst_by_limit);
    assert_int_equal(plan.worst_each_bytes, (64 + 10) * MIB + 128 * 1024);
}

static void moments_without_workers_are_none(void **state)
{
    const struct plan_wishes wishes = {.limit_bytes = MIB};

    (void)state;
    for (size_t i = 0; i < MOMENTS; i++) {
        moments[i].workers = 0;
    }
    assert_int_equal(fleet_plan_input(&region, &fleet, &wishes, &input), -ENODATA);
    fleet.count = 0;
    assert_int_equal(fleet_plan_input(&region, &fleet, &wishes, &input), -ENODATA);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(crowds_count, setup, teardown),
        cmocka_unit_test_setup_teardown(heaps_tell_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(
            moments_without_workers_are_none, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
