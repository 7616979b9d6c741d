/* test_change_text.c - which findings to act on, and their lines in one piece. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "present/change_text.h"

enum { MIB = 1 << 20 };

static const struct rule malloc_rule = {.id = "of-malloc", .bytes = BYTES_OF_GLIBC};
static const struct rule other_rule = {.id = "of-malloc-too", .bytes = BYTES_OF_GLIBC};
static const struct rule own_rule = {.id = "of-its-own"};
static const struct rule limit_rule = {.id = "limit"};

static struct finding gives(const struct rule *rule, uint64_t mib, const char *fix)
{
    return (struct finding){.rule = rule,
        .severity = SEVERITY_WARN,
        .summary = "a sentence",
        .predicts = true,
        .predicted_low_bytes = mib * MIB,
        .predicted_high_bytes = mib * MIB,
        .confidence = CONFIDENCE_LIKELY,
        .fix = fix,
        .verify = rule->id};
}

static struct finding says(enum severity severity, const char *fix)
{
    return (struct finding){
        .rule = &limit_rule, .severity = severity, .summary = "a sentence", .fix = fix};
}

static void assert_section(struct finding *findings, size_t count, const char *expected)
{
    const struct finding_list list = {.items = findings, .count = count};
    const struct present_style style = {.width = 80};
    const struct facts facts = {.gap_count = 0};
    struct changes changes;
    struct buffer buffer;
    struct page page;

    changes_of(&list, &changes);
    buffer_init(&buffer);
    page_init(&page, &style, &buffer);
    change_text(&page, &changes, &facts);
    assert_string_equal(buffer_text(&buffer), expected);
    buffer_release(&buffer);
}

/* Two changes of one place: its head once, both settings, one restart. */
static void lines_for_one_place_are_merged(void **state)
{
    struct finding findings[] = {
        gives(&malloc_rule, 9, "# edit\n[Service]\nA=1\n# restart"),
        gives(&own_rule, 5, "# edit\n[Service]\nB=2\n# restart"),
    };

    (void)state;
    assert_section(findings, 2,
        "\nWhat to change: gives back 14.0 MiB (likely)\n"
        "  of-malloc: 9.0 MiB (likely); a sentence\n"
        "  of-its-own: 5.0 MiB (likely); a sentence\n"
        "      # edit\n      [Service]\n      A=1\n      B=2\n      # restart\n"
        "  check: of-malloc\n  check: of-its-own\n");
}

/* Two places, one restart behind both. */
static void one_restart_stands_behind_all_places(void **state)
{
    struct finding findings[] = {
        gives(&malloc_rule, 9, "# edit\n[Service]\nA=1\n# restart"),
        gives(&own_rule, 5, "# my.cnf\n[mysqld]\nb = 2\n# restart"),
    };

    (void)state;
    assert_section(findings, 2,
        "\nWhat to change: gives back 14.0 MiB (likely)\n"
        "  of-malloc: 9.0 MiB (likely); a sentence\n"
        "  of-its-own: 5.0 MiB (likely); a sentence\n"
        "      # edit\n      [Service]\n      A=1\n\n"
        "      # my.cnf\n      [mysqld]\n      b = 2\n      # restart\n"
        "  check: of-malloc\n  check: of-its-own\n");
}

static void of_the_same_bytes_the_best_is_changed(void **state)
{
    struct finding findings[] = {
        gives(&other_rule, 5, "five"), gives(&malloc_rule, 9, "nine")};

    (void)state;
    assert_section(findings, 2,
        "\nWhat to change: gives back 9.0 MiB (likely)\n"
        "  of-malloc: a sentence\n      nine\n  check: of-malloc\n");
}

static void what_a_change_costs_is_told(void **state)
{
    const struct rule dear = {.id = "dear", .price = "a tenth of the processor time"};
    struct finding finding = gives(&dear, 9, "A=1");

    (void)state;
    assert_section(&finding, 1,
        "\nWhat to change: gives back 9.0 MiB (likely)\n"
        "  dear: a sentence\n"
        "      A=1\n"
        "  price: a tenth of the processor time\n"
        "  check: dear\n");
}

/* What is critical and has lines comes first, whether it gives memory back or not. */
static void the_critical_comes_first(void **state)
{
    struct finding findings[] = {says(SEVERITY_CRITICAL, "# only words"),
        says(SEVERITY_CRITICAL, "limit = 1"), gives(&malloc_rule, 9, "nine")};

    (void)state;
    assert_section(findings, 3,
        "\nWhat to change: gives back 9.0 MiB (likely)\n  limit: a sentence\n"
        "  of-malloc: 9.0 MiB (likely); a sentence\n      limit = 1\n\n      nine\n"
        "  check: of-malloc\n");
}

static void a_warning_is_better_than_nothing_and_a_note_is_not(void **state)
{
    struct finding findings[] = {
        says(SEVERITY_WARN, "; words"), says(SEVERITY_WARN, "limit = 1")};

    (void)state;
    assert_section(
        findings, 2, "\nWhat to change\n  limit: a sentence\n      limit = 1\n");
    assert_section(findings, 1, "\nWhat to change: nothing\n");
    findings[1].severity = SEVERITY_INFO;
    assert_section(findings, 2, "\nWhat to change: nothing\n");
    assert_section(NULL, 0, "\nWhat to change: nothing\n");
}

/* No text of a rule is that long; one of a recording's might be. */
static void a_flood_of_lines_is_cut(void **state)
{
    char fix[400] = "";
    struct finding findings[] = {gives(&malloc_rule, 9, fix)};
    const struct finding_list list = {.items = findings, .count = 1};
    const struct present_style style = {.width = 80};
    const struct facts facts = {.gap_count = 0};
    struct changes changes;
    struct buffer buffer;
    struct page page;

    (void)state;
    for (size_t i = 0; i < sizeof(fix); i += 4) {
        memcpy(fix + i, "abc\n", 4);
    }
    fix[sizeof(fix) - 1] = '\0';
    changes_of(&list, &changes);
    buffer_init(&buffer);
    page_init(&page, &style, &buffer);
    change_text(&page, &changes, &facts);
    assert_in_range(buffer.length_bytes, 100, 400);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_for_one_place_are_merged),
        cmocka_unit_test(one_restart_stands_behind_all_places),
        cmocka_unit_test(of_the_same_bytes_the_best_is_changed),
        cmocka_unit_test(what_a_change_costs_is_told),
        cmocka_unit_test(the_critical_comes_first),
        cmocka_unit_test(a_warning_is_better_than_nothing_and_a_note_is_not),
        cmocka_unit_test(a_flood_of_lines_is_cut),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
