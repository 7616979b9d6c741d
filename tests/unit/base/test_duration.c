/* test_duration.c - spans of time and sizes as people type them. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/duration.h"

struct pair {
    const char *text;
    uint64_t value;
};

static void spans_of_time(void **state)
{
    static const struct pair pairs[] = {{"5", 5000}, {"5s", 5000}, {"250ms", 250},
        {"10m", 600000}, {"10min", 600000}, {"1h30m", 5400000}, {"2d", 172800000},
        {"1h0s", 3600000}, {"0", 0}};

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        uint64_t value = 1;
        assert_int_equal(duration_parse(pairs[i].text, &value), 0);
        assert_int_equal(value, pairs[i].value);
    }
}

static void what_is_no_span_of_time(void **state)
{
    static const char *const wrong[] = {
        "", "s", "-5s", "5x", "1h30", "0s5", "5 s", "5.5s"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(duration_parse(wrong[i], &value), -EINVAL);
        assert_int_equal(value, 7);
    }
    assert_int_equal(duration_parse("18446744073709551615s", &value), -ERANGE);
    assert_int_equal(duration_parse("18446744073709551615ms1ms", &value), -ERANGE);
    assert_int_equal(value, 7);
    assert_int_equal(duration_parse("365250d1ms", &value), -ERANGE);
    assert_int_equal(value, 7);
    assert_int_equal(duration_parse("365250d", &value), 0);
    assert_int_equal(value, DURATION_MOST_MS);
}

static void sizes(void **state)
{
    static const struct pair pairs[] = {{"4096", 4096}, {"64K", 65536}, {"1KiB", 1024},
        {"256M", 268435456}, {"2GiB", UINT64_C(2) << 30}, {"1T", UINT64_C(1) << 40},
        {"7B", 7}};
    static const char *const wrong[] = {
        "", "M", "1MM", "1M2K", "1.5G", "-1", "1 M", "1mb"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(size_parse(wrong[i], &value), -EINVAL);
        assert_int_equal(value, 7);
    }
    assert_int_equal(size_parse("16777216T", &value), -ERANGE);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_int_equal(size_parse(pairs[i].text, &value), 0);
        assert_true(value == pairs[i].value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(spans_of_time),
        cmocka_unit_test(what_is_no_span_of_time),
        cmocka_unit_test(sizes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
