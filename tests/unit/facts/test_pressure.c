/* test_pressure.c - totals of pressure stall information. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/pressure.h"

static void both_totals_are_read(void **state)
{
    static const char text[] =
        "some avg10=0.12 avg60=0.00 avg300=1.00 total=18446744073709551615\n"
        "full avg10=0.00 avg60=0.00 avg300=0.00 total=7\n";

    (void)state;
    assert_true(pressure_total(text, "some").value == UINT64_MAX);
    assert_int_equal(pressure_total(text, "some").state, FACT_OK);
    assert_int_equal(pressure_total(text, "full").value, 7);
}

static void what_is_missing_is_told_apart_from_what_is_broken(void **state)
{
    (void)state;
    assert_int_equal(pressure_total("", "some").state, FACT_ABSENT);
    assert_int_equal(pressure_total("something total=1\n", "some").state, FACT_ABSENT);
    assert_int_equal(pressure_total("some avg10=1\n", "some").state, FACT_MALFORMED);
    assert_int_equal(pressure_total("some total=x\n", "some").state, FACT_MALFORMED);
    assert_int_equal(pressure_total("some total=18446744073709551616\n", "some").state,
        FACT_MALFORMED);
}

static void the_share_of_a_minute_is_read(void **state)
{
    static const char text[] = "some avg10=1.00 avg60=82.56 avg300=10.27 total=1\n"
                               "full avg10=1.00 avg60=0.01 avg300=10.27 total=1\n";

    (void)state;
    assert_int_equal(pressure_of_key(text, "some avg60").value, 49536000);
    assert_int_equal(pressure_of_key(text, "full avg60").value, 6000);
    assert_int_equal(pressure_of_key(text, "some").value, 1);
    assert_int_equal(pressure_minute("full avg60=1.00\n", "some").state, FACT_ABSENT);
    assert_int_equal(pressure_minute("some avg60=1\n", "some").state, FACT_MALFORMED);
    assert_int_equal(pressure_minute("some avg60=1.0", "some").state, FACT_MALFORMED);
    assert_int_equal(
        pressure_minute("some avg60=101.00\n", "some").state, FACT_MALFORMED);
    assert_int_equal(pressure_minute("some avg60=nan\n", "some").state, FACT_MALFORMED);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_totals_are_read),
        cmocka_unit_test(the_share_of_a_minute_is_read),
        cmocka_unit_test(what_is_missing_is_told_apart_from_what_is_broken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
