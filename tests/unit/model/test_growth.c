/*
 * test_growth.c - leaks, plateaus and noise, and the published case C27: a server's memory
 * after 0, 1, 10, ... 100,000 requests (shlink#1740), which looks like a leak until it is
 * judged by its second half.
 */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "model/growth.h"

#define MIB (1024.0 * 1024.0)

enum { MOST = 5000 };

static struct growth_point points[MOST];
static double least_span;

/* Noise of -1 to 1, the same in each run. */
static double noise(void)
{
    return (double)(rand() % 2001 - 1000) / 1000.0;
}

static struct growth judged(size_t count)
{
    struct region scratch;
    struct growth growth;

    region_init(&scratch, 1 << 20);
    assert_int_equal(growth_judge(points, count, least_span, &scratch, &growth), 0);
    region_release(&scratch);
    return growth;
}

static void expect(size_t count, enum growth_verdict verdict)
{
    const struct growth growth = judged(count);

    if (growth.verdict != verdict) {
        fail_msg("%s instead of %s: %.0f to %.0f, slope %g, z %.1f",
            growth_verdict_names[growth.verdict], growth_verdict_names[verdict],
            growth.first_bytes, growth.last_bytes, growth.slope, growth.confidence);
    }
}

/* C27, interpolated in the logarithm, at a steady rate of requests. */
static double c27(double requests)
{
    static const double mebibytes[] = {94.6, 166.3, 208.9, 359.4, 374.6, 428.3};
    const double place = requests < 1 ? 0 : log10(requests);
    const int below = place >= 5 ? 4 : (int)place;
    const double part = place - below;

    return (mebibytes[below] * (1 - part) + mebibytes[below + 1] * part) * MIB;
}

static void r_c27_warms_up_and_is_no_leak(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        points[i] = (struct growth_point){i * 100.0, c27(i * 100.0)};
    }
    expect(1000, GROWTH_SLOWING);
    /* Also when the cold start was not recorded, and with noise. */
    srand(1);
    for (int i = 0; i < 990; i++) {
        points[i] = (struct growth_point){
            1000.0 + i * 100.0, c27(1000.0 + i * 100.0) + noise() * 3 * MIB};
    }
    expect(990, GROWTH_SLOWING);
}

static void a_straight_line_is_a_leak(void **state)
{
    (void)state;
    srand(2);
    for (int i = 0; i < 720; i++) {
        points[i] =
            (struct growth_point){i * 5.0, 100 * MIB + i * 0.1 * MIB + noise() * 2 * MIB};
    }
    expect(720, GROWTH_LEAK);
    const struct growth growth = judged(720);
    assert_true(fabs(growth.slope - 0.02 * MIB) < 0.002 * MIB);
    assert_true(growth.first_bytes < 105 * MIB && growth.last_bytes > 165 * MIB);
}

/* A leak in stairs of 2 MiB, as of chunks. */
static void a_staircase_that_goes_on_is_a_leak(void **state)
{
    (void)state;
    for (int i = 0; i < 300; i++) {
        points[i] = (struct growth_point){i, (50 + 2 * floor(i / 25.0)) * MIB};
    }
    expect(300, GROWTH_LEAK);
}

static void outliers_move_nothing(void **state)
{
    (void)state;
    for (int i = 0; i < 600; i++) {
        points[i] = (struct growth_point){i, 80 * MIB + (i % 4 == 0 ? i * MIB : 0)};
    }
    expect(600, GROWTH_STEADY);
}

static void one_step_is_a_plateau_and_noise_is_steady(void **state)
{
    (void)state;
    srand(3);
    for (int i = 0; i < 400; i++) {
        points[i] = (struct growth_point){i, (i < 100 ? 50 : 90) * MIB + noise() * MIB};
    }
    expect(400, GROWTH_PLATEAU);
    for (int i = 0; i < 400; i++) {
        points[i] = (struct growth_point){i, (i < 350 ? 50 : 90) * MIB};
    }
    assert_int_not_equal(judged(400).verdict, GROWTH_LEAK);
    for (int i = 0; i < 400; i++) {
        points[i] = (struct growth_point){i, 70 * MIB + noise() * 2 * MIB};
    }
    expect(400, GROWTH_STEADY);
    for (int i = 0; i < 400; i++) {
        points[i] = (struct growth_point){i, (90 - i * 0.1) * MIB};
    }
    expect(400, GROWTH_SHRINKING);
}

/* A random walk must not be called a leak just because it drifted. */
static void random_walks_are_rarely_leaks(void **state)
{
    int leaks = 0;

    (void)state;
    srand(4);
    for (int round = 0; round < 200; round++) {
        double y = 100 * MIB;
        for (int i = 0; i < 500; i++) {
            y = fmax(y + noise() * MIB, MIB);
            points[i] = (struct growth_point){i, y};
        }
        leaks += judged(500).verdict == GROWTH_LEAK;
    }
    assert_in_range(leaks, 0, 50); /* 0.25: what drifts by chance for all of the time */
}

static void few_points_say_nothing(void **state)
{
    (void)state;
    expect(0, GROWTH_UNCLEAR);
    for (int i = 0; i < 11; i++) {
        points[i] = (struct growth_point){i, i * 10 * MIB};
    }
    expect(1, GROWTH_UNCLEAR);
    expect(11, GROWTH_UNCLEAR);
    for (int i = 0; i < 100; i++) {
        points[i] = (struct growth_point){7, i * 10 * MIB};
    }
    expect(100, GROWTH_UNCLEAR);
    for (int i = 0; i < 100; i++) {
        points[i] = (struct growth_point){i == 99 ? 1000 : i * 0.001, i * 10 * MIB};
    }
    expect(100, GROWTH_UNCLEAR);
}

static void a_day_of_ticks_is_judged_in_bounds(void **state)
{
    struct region tiny;
    struct growth growth;

    (void)state;
    for (int i = 0; i < MOST; i++) {
        points[i] = (struct growth_point){i, i * MIB};
    }
    expect(MOST, GROWTH_LEAK);
    region_init(&tiny, 1000);
    assert_int_not_equal(growth_judge(points, MOST, 0, &tiny, &growth), 0);
    region_release(&tiny);
}

static void growth_that_was_seen_shortly_is_no_leak_and_no_warm_up(void **state)
{
    (void)state;
    least_span = 600;
    for (int i = 0; i < 100; i++) {
        points[i] = (struct growth_point){i * 6.06, (100 + i) * MIB};
    }
    expect(100, GROWTH_SHORT);
    for (int i = 0; i < 100; i++) {
        points[i].x = i * 6.07;
    }
    expect(100, GROWTH_LEAK);
    for (int i = 0; i < 100; i++) {
        points[i] = (struct growth_point){i, (i < 30 ? 50 : 90) * MIB};
    }
    expect(100, GROWTH_SHORT);
    for (int i = 0; i < 100; i++) {
        points[i].y = 90 * MIB;
    }
    expect(100, GROWTH_STEADY); /* of what was seen this is true */
    least_span = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r_c27_warms_up_and_is_no_leak),
        cmocka_unit_test(a_straight_line_is_a_leak),
        cmocka_unit_test(a_staircase_that_goes_on_is_a_leak),
        cmocka_unit_test(outliers_move_nothing),
        cmocka_unit_test(one_step_is_a_plateau_and_noise_is_steady),
        cmocka_unit_test(random_walks_are_rarely_leaks),
        cmocka_unit_test(few_points_say_nothing),
        cmocka_unit_test(growth_that_was_seen_shortly_is_no_leak_and_no_warm_up),
        cmocka_unit_test(a_day_of_ticks_is_judged_in_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
