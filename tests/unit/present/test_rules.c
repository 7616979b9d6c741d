/* test_rules.c - the table of rules as a list, and one rule in full. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "golden.h"
#include "present/rules.h"

static const struct rule rules[] = {
    {.id = "glibc-retained",
        .title = "free memory that malloc keeps resident, in the arenas of many threads",
        .needs = "glibc arenas, pagemap",
        .threshold = "from 64 MiB and 10 % of the resident set on",
        .evidence = "free_resident: whole free pages that are resident",
        .fix = "MALLOC_ARENA_MAX=2 in the environment of the service",
        .text =
            "A thread takes an arena of its own when the others are busy. What it "
            "frees stays with the arena.\nIt does not matter when the load comes back."},
    {.id = "swap", .title = "memory in swap"},
    {.id = NULL},
};

static const struct present_style style = {.utf8 = true, .width = 80};

static void lists_and_shows_rules(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    present_rules_text(rules, &style, &buffer);
    buffer_append_text(&buffer, "----\n");
    present_rule_text(&rules[0], &style, &buffer);
    buffer_append_text(&buffer, "----\n");
    present_rule_text(&rules[1], &style, &buffer);
    assert_golden("rules.txt", &buffer);
    buffer_release(&buffer);
}

static void writes_rules_as_json(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    present_rules_json(rules, &buffer);
    present_rule_json(&rules[1], &buffer);
    assert_golden("rules.json", &buffer);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lists_and_shows_rules),
        cmocka_unit_test(writes_rules_as_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
