/* test_load.c - the outputs of wrk and ab, whole and cut short. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trial/load.h"

static const char wrk_text[] =
    "Running 10s test @ http://127.0.0.1:1/query\n"
    "Requests/sec:    386.50\n"
    "STRATA 3870 10010000 1 2 3 129000 128000 140000 155000 190000\n";

/* ab 2.4.71 against 20 FPM workers, cut to what is read */
static const char ab_text[] =
    "Time taken for tests:   3.003 seconds\n"
    "Complete requests:      1141\n"
    "Failed requests:        5\n"
    "   (Connect: 0, Receive: 0, Length: 3, Exceptions: 2)\n"
    "Non-2xx responses:      2\n"
    "Requests per second:    379.96 [#/sec] (mean)\n"
    "Percentage of the requests served within a certain time (ms)\n"
    "  50%    128\n  66%    130\n  75%    131\n  80%    132\n  90%    140\n"
    "  95%    150\n  98%    152\n  99%    155\n 100%    190 (longest request)\n";

static void wrk_by_its_script(void **state)
{
    struct load_result result = {.tool = LOAD_WRK};

    (void)state;
    load_parse_wrk(wrk_text, &result);
    assert_true(result.complete);
    assert_int_equal(result.requests, 3867);
    assert_int_equal(result.bad_status, 1);
    assert_int_equal(result.bad_body, 2);
    assert_int_equal(result.failed, 3);
    assert_true(result.seconds > 10.009 && result.seconds < 10.011);
    assert_int_equal((int)result.p99_us, 155000);
    assert_int_equal((int)result.most_us, 190000);
}

static void wrk_cut_short_is_no_result(void **state)
{
    char text[sizeof(wrk_text)];

    (void)state;
    for (size_t bytes = 0; bytes + 8 < sizeof(wrk_text); bytes++) {
        struct load_result result = {.tool = LOAD_WRK};
        memcpy(text, wrk_text, bytes);
        text[bytes] = '\0';
        load_parse_wrk(text, &result);
        assert_false(result.complete);
        assert_true(result.why[0] != '\0');
    }
}

static void ab_by_its_table(void **state)
{
    struct load_result result = {.tool = LOAD_AB};

    (void)state;
    load_parse_ab(ab_text, &result);
    assert_true(result.complete);
    assert_int_equal(result.requests, 1141 - 5 - 2);
    assert_int_equal(result.bad_body, 3);
    assert_int_equal(result.failed, 2);
    assert_int_equal(result.bad_status, 2);
    assert_int_equal((int)result.p50_us, 128000);
    assert_int_equal((int)result.p99_us, 155000);
    assert_int_equal((int)result.most_us, 190000);
}

static void ab_that_failed_is_no_result(void **state)
{
    struct load_result result = {.tool = LOAD_AB};

    (void)state;
    load_parse_ab("apr_socket_recv: Connection refused (111)\n", &result);
    assert_false(result.complete);
    assert_true(result.why[0] != '\0');
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrk_by_its_script),
        cmocka_unit_test(wrk_cut_short_is_no_result),
        cmocka_unit_test(ab_by_its_table),
        cmocka_unit_test(ab_that_failed_is_no_result),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
