/* test_number.c - numbers from hostile text: overflow, signs, rubbish. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/number.h"

static void reads_up_to_the_last_64_bit_number(void **state)
{
    uint64_t value = 1;

    (void)state;
    assert_int_equal(number_parse("18446744073709551615", &value), 0);
    assert_true(value == UINT64_MAX);
    assert_int_equal(number_parse("18446744073709551616", &value), -ERANGE);
    assert_true(value == UINT64_MAX);
}

static void refuses_what_is_not_a_plain_number(void **state)
{
    static const char *const wrong[] = {"", "-1", "+1", " 1", "1 ", "0x10", "1k", "e"};
    uint64_t value = 7;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(number_parse(wrong[i], &value), -EINVAL);
        assert_true(value == 7);
    }
}

static void stops_behind_a_hexadecimal_number(void **state)
{
    const char *text = "7ffdE0-rest";
    uint64_t value = 0;

    (void)state;
    assert_int_equal(number_read(&text, 16, &value), 0);
    assert_true(value == 0x7ffde0);
    assert_string_equal(text, "-rest");
}

static void sums_saturate(void **state)
{
    (void)state;
    assert_true(number_add(UINT64_MAX, 1) == UINT64_MAX);
    assert_true(number_add(1, 2) == 3);
    assert_true(number_subtract(1, 2) == 0);
    assert_true(number_scale(UINT64_MAX, 1.5) == UINT64_MAX);
    assert_true(number_scale(UINT64_MAX, 1.0) == UINT64_MAX);
    assert_true(number_scale(10, 0.75) == 7);
    assert_true(number_from_kib(UINT64_MAX / 1024) == UINT64_MAX / 1024 * 1024);
    assert_true(number_from_kib(UINT64_MAX / 1024 + 1) == UINT64_MAX);
}

static void differences_go_as_far_as_they_can(void **state)
{
    (void)state;
    assert_true(number_difference(1, 3) == -2);
    assert_true(number_difference(INT64_MAX, -1) == INT64_MAX);
    assert_true(number_difference(-2, INT64_MAX) == INT64_MIN);
    assert_true(number_difference(-1, INT64_MIN) == INT64_MAX);
    assert_true(number_difference(INT64_MIN, INT64_MIN) == 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_up_to_the_last_64_bit_number),
        cmocka_unit_test(refuses_what_is_not_a_plain_number),
        cmocka_unit_test(stops_behind_a_hexadecimal_number),
        cmocka_unit_test(sums_saturate),
        cmocka_unit_test(differences_go_as_far_as_they_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
