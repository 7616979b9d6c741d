/* test_json_bounds.c - counting without a parser, strings and escapes skipped. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "record/json_bounds.h"

static void counts_brackets_and_separators(void **state)
{
    static const struct {
        const char *text;
        size_t depth;
        size_t values;
    } cases[] = {
        {"", 0, 0},
        {"7", 0, 0},
        {"[]", 1, 1},
        {"[1,2,{\"a\":3}]", 2, 5},
        {"[\"[[[,,::\"]", 1, 1},
        {"[\"\\\"[\"]", 1, 1},
        {"[\"\\\\\",[]]", 2, 3},
        {"]]]][", 1, 1},
        {"[\"\\", 1, 1},
        {"[[[[", 4, 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_bounds bounds;
        json_bounds_measure(cases[i].text, strlen(cases[i].text), &bounds);
        assert_int_equal(bounds.depth, cases[i].depth);
        assert_int_equal(bounds.values, cases[i].values);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(counts_brackets_and_separators),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
