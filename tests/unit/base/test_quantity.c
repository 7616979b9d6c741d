/* test_quantity.c - rounding, units and dates at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/quantity.h"

#define MIB UINT64_C(1048576)

static void never_shows_something_as_nothing(void **state)
{
    (void)state;
    assert_string_equal(quantity_bytes(0, false).text, "0.0 MiB");
    assert_string_equal(quantity_bytes(1, false).text, "<0.1 MiB");
    assert_string_equal(quantity_bytes(MIB / 20 + 1, false).text, "0.1 MiB");
    assert_string_equal(quantity_mib(1, false).text, "<0.1");
    assert_string_equal(quantity_signed_bytes(-1, false).text, "-<0.1 MiB");
}

static void changes_to_gib_before_it_prints_1024(void **state)
{
    (void)state;
    assert_string_equal(quantity_bytes(1023 * MIB, false).text, "1023.0 MiB");
    assert_string_equal(quantity_bytes(1024 * MIB - 1, false).text, "1.0 GiB");
    assert_string_equal(quantity_mib(2048 * MIB, false).text, "2048.0");
    assert_string_equal(quantity_bytes(UINT64_MAX, false).text, "17179869184.0 GiB");
}

static void prints_exact_bytes_and_signs(void **state)
{
    (void)state;
    assert_string_equal(quantity_bytes(UINT64_MAX, true).text, "18446744073709551615 B");
    assert_string_equal(
        quantity_signed_bytes(INT64_MIN, true).text, "-9223372036854775808 B");
    assert_string_equal(quantity_signed_bytes(0, false).text, "+0.0 MiB");
}

static void joins_the_ends_of_a_range(void **state)
{
    (void)state;
    assert_string_equal(
        quantity_range(330 * MIB, 370 * MIB, false).text, "330.0-370.0 MiB");
    assert_string_equal(quantity_range(MIB, MIB + 1, false).text, "1.0 MiB");
    assert_string_equal(quantity_range(512 * MIB, 2048 * MIB, false).text, "0.5-2.0 GiB");
    assert_string_equal(quantity_range(1, 2, true).text, "1-2 B");
    assert_string_equal(quantity_range(2, 2, true).text, "2 B");
}

static void takes_the_two_largest_units_of_time(void **state)
{
    (void)state;
    assert_string_equal(quantity_seconds(59).text, "59 s");
    assert_string_equal(quantity_seconds(3599).text, "59 min");
    assert_string_equal(quantity_seconds(7260).text, "2 h 1 min");
    assert_string_equal(quantity_seconds(90000).text, "1 d 1 h");
    assert_string_equal(quantity_microseconds(999).text, "999 us");
    assert_string_equal(quantity_microseconds(12345).text, "12.3 ms");
    assert_string_equal(quantity_microseconds(1500000).text, "1.5 s");
}

static void writes_dates_of_leap_years_and_before_1970(void **state)
{
    (void)state;
    assert_string_equal(quantity_time(0).text, "1970-01-01T00:00:00Z");
    assert_string_equal(quantity_time(-1).text, "1969-12-31T23:59:59Z");
    assert_string_equal(
        quantity_time(INT64_C(951782400000000000)).text, "2000-02-29T00:00:00Z");
    assert_string_equal(
        quantity_time(INT64_C(4107542399000000000)).text, "2100-02-28T23:59:59Z");
    assert_string_equal(
        quantity_time(INT64_C(4107542400999999999)).text, "2100-03-01T00:00:00Z");
}

static void has_no_share_of_nothing(void **state)
{
    (void)state;
    assert_string_equal(quantity_percent(1, 0).text, "-");
    assert_string_equal(quantity_percent(1, 3).text, "33.3 %");
}

static void a_count_of_one_is_singular(void **state)
{
    (void)state;
    assert_string_equal(quantity_count(0, "worker").text, "0 workers");
    assert_string_equal(quantity_count(1, "worker").text, "1 worker");
    assert_string_equal(quantity_count(1, "process").text, "1 process");
    assert_string_equal(quantity_count(2, "process").text, "2 processes");
    assert_string_equal(quantity_count(UINT64_MAX, "mapped block").text,
        "18446744073709551615 mapped blocks");
    assert_string_equal(quantity_form(1, "was", "were"), "was");
    assert_string_equal(quantity_form(0, "was", "were"), "were");
}

static void a_gap_is_what_the_texts_differ_by(void **state)
{
    const int64_t tenth = 1048576 / 10;

    (void)state;
    /* 10.04, 20.16 and their difference of 10.12 MiB: shown as 10.0, 20.2 and +10.2 */
    assert_string_equal(
        quantity_signed_bytes(quantity_gap(10527703, 21139292, false), false).text,
        "+10.2 MiB");
    assert_string_equal(
        quantity_signed_bytes(quantity_gap(21139292, 10527703, false), false).text,
        "-10.2 MiB");
    assert_true(quantity_gap(10527703, 21139292, true) == 21139292 - 10527703);
    assert_true(quantity_gap(tenth / 3, tenth / 4, false) == 0);
    assert_true(quantity_gap(7, INT64_C(1) << 30, false) == (INT64_C(1) << 30) - 7);
    assert_true(quantity_gap(INT64_MAX, -2, false) == INT64_MIN);
    assert_true(quantity_gap(INT64_MIN, 1, true) == INT64_MAX);
    assert_true(quantity_gap(-1, INT64_MAX, true) == INT64_MAX);
    assert_true(quantity_gap(INT64_MAX, INT64_MAX, true) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(never_shows_something_as_nothing),
        cmocka_unit_test(changes_to_gib_before_it_prints_1024),
        cmocka_unit_test(prints_exact_bytes_and_signs),
        cmocka_unit_test(joins_the_ends_of_a_range),
        cmocka_unit_test(takes_the_two_largest_units_of_time),
        cmocka_unit_test(writes_dates_of_leap_years_and_before_1970),
        cmocka_unit_test(has_no_share_of_nothing),
        cmocka_unit_test(a_count_of_one_is_singular),
        cmocka_unit_test(a_gap_is_what_the_texts_differ_by),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
