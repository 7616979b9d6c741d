/* test_check.c - figures that cannot be true, and runs that were disturbed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trial/check.h"

static struct load_result load;
static struct check_input input;
static struct check_reasons reasons;

static int setup(void **state)
{
    (void)state;
    load = (struct load_result){.tool = LOAD_OWN,
        .complete = true,
        .requests = 3870,
        .seconds = 10,
        .rate = 387,
        .mean_us = 129000,
        .processor_seconds = 0.5};
    input = (struct check_input){.load = &load,
        .machine = {.busy_ticks = 1000, .idle_ticks = 1000, .known = true},
        .workers = 20,
        .connections = 50,
        .blocking = true,
        .service_seconds = 0.05};
    return 0;
}

static void valid(void)
{
    check_run(&input, &reasons);
    if (reasons.count != 0) {
        fail_msg("unexpected: %s", reasons.text[0]);
    }
}

static void invalid(const char *word)
{
    check_run(&input, &reasons);
    assert_int_equal(reasons.count, 1);
    if (strstr(reasons.text[0], word) == NULL) {
        fail_msg("no '%s' in '%s'", word, reasons.text[0]);
    }
}

static void a_measured_run_counts(void **state)
{
    (void)state;
    valid();
    assert_true(check_rate_bound(&input) > 399.9 && check_rate_bound(&input) < 400.1);
}

/* The published 842, 936 and 648 requests a second with 20 workers and 50 ms. */
static void published_rates_of_blocking_workers_are_impossible(void **state)
{
    static const double rates[] = {842, 936, 648};

    (void)state;
    load.mean_us = 0;
    for (size_t i = 0; i < 3; i++) {
        load.rate = rates[i];
        invalid("impossible: 20 blocking workers with");
    }
    input.blocking = false; /* coroutines */
    valid();
    input.blocking = true;
    load.rate = 407; /* within the margin of a run's edges */
    valid();
    load.rate = 409;
    invalid("at most 400");
    input.workers = 50;
    load.rate = 964;
    valid();
}

static void wrong_answers(void **state)
{
    (void)state;
    load.bad_status = 3;
    valid(); /* 3 of 3873: less than one in a thousand */
    load.bad_status = 4;
    invalid("4 by status");
    load.bad_status = 0;
    load.bad_body = 4;
    invalid("4 by body");
    load.bad_body = 0;
    load.failed = 4;
    invalid("4 failed");
    load.requests = 0;
    load.rate = 0;
    check_run(&input, &reasons);
    assert_int_equal(reasons.count, 2);
}

static void an_unfinished_load(void **state)
{
    (void)state;
    load.complete = false;
    memcpy(load.why, "the generator was stopped", 26);
    invalid("the generator was stopped");
}

static void rate_times_latency_is_the_connections(void **state)
{
    (void)state;
    load.mean_us = 160000; /* 62 at once */
    invalid("at once, on 50 connections");
    load.tool = LOAD_WRK; /* which corrects its latencies */
    valid();
    load.tool = LOAD_OWN;
    input.wanted_rate = 387; /* open loop: latency counts from the intended start */
    valid();
}

static void the_generator_is_the_limit(void **state)
{
    (void)state;
    load.processor_seconds = 9.1;
    invalid("the generator was busy 91 %");
    load.processor_seconds = 8.9;
    valid();
    input.wanted_rate = 500;
    load.unsent = 101; /* of 5000 */
    invalid("could not send 101");
    load.unsent = 100;
    valid();
}

static void the_machine_disturbs(void **state)
{
    (void)state;
    input.machine.steal_ticks = 41;
    invalid("steal");
    input.machine.steal_ticks = 40;
    valid();
    input.machine.swapped_pages = 1;
    invalid("swapped 1 page");
    input.machine.swapped_pages = 0;
    input.machine.throttled = 2;
    valid(); /* not known */
    input.machine.throttled_known = true;
    invalid("throttled in 2");
}

static void what_ended_is_told(void **state)
{
    (void)state;
    input.workers_lost = 1;
    invalid("1 worker ended");
    input.workers_lost = 18;
    input.recycled_after = 1000;
    invalid("18 workers ended during the run, as pm.max_requests = 1000 wants it");
    input.recycled_after = 0;
    input.workers_lost = 0;
    input.service_lost = "database";
    invalid("'database' ended");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_measured_run_counts, setup),
        cmocka_unit_test_setup(published_rates_of_blocking_workers_are_impossible, setup),
        cmocka_unit_test_setup(wrong_answers, setup),
        cmocka_unit_test_setup(an_unfinished_load, setup),
        cmocka_unit_test_setup(rate_times_latency_is_the_connections, setup),
        cmocka_unit_test_setup(the_generator_is_the_limit, setup),
        cmocka_unit_test_setup(the_machine_disturbs, setup),
        cmocka_unit_test_setup(what_ended_is_told, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
