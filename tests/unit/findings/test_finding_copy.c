/* test_finding_copy.c - a copied list outlives what it was made from. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "findings/finding.h"
#include "findings/finding_writer.h"

static void fill(struct finding_list *list, char *name)
{
    struct finding finding = {.rule = &rule_table[1],
        .severity = SEVERITY_WARN,
        .pid = 7,
        .summary = finding_printf(list, "%s keeps much", name),
        .fix = "change it",
        .predicts = true,
        .predicted_low_bytes = 5,
        .predicted_high_bytes = 9};

    finding_add_text(&finding, "who", name);
    finding_add_count(&finding, "times", 3);
    assert_int_equal(finding_push(list, &finding), 0);
}

static void texts_are_the_copys_own(void **state)
{
    struct finding_list list = {.items = NULL};
    struct finding_list copy;
    char name[] = "mariadbd";

    (void)state;
    region_init(&list.region, 1 << 20);
    fill(&list, name);
    assert_int_equal(finding_list_copy(&list, &copy), 0);
    assert_ptr_not_equal(copy.items[0].summary, list.items[0].summary);
    assert_ptr_not_equal(copy.items[0].fix, list.items[0].fix);
    assert_ptr_not_equal(copy.items[0].evidence[0].text, list.items[0].evidence[0].text);
    memset(name, 'x', sizeof(name) - 1); /* a text of the facts, that are released */
    finding_list_release(&list);
    assert_int_equal(copy.count, 1);
    const struct finding *finding = &copy.items[0];
    assert_int_equal(finding->pid, 7);
    assert_string_equal(finding->summary, "mariadbd keeps much");
    assert_string_equal(finding->fix, "change it");
    assert_null(finding->verify);
    assert_int_equal(finding->predicted_high_bytes, 9);
    assert_int_equal(finding->evidence_count, 2);
    assert_string_equal(finding->evidence[0].text, "mariadbd");
    assert_int_equal(finding->evidence[1].value, 3);
    finding_list_release(&copy);
}

static void an_empty_list_is_copied_as_well(void **state)
{
    struct finding_list list = {.count = 0};
    struct finding_list copy;

    (void)state;
    assert_int_equal(finding_list_copy(&list, &copy), 0);
    assert_int_equal(copy.count, 0);
    finding_list_release(&copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(texts_are_the_copys_own),
        cmocka_unit_test(an_empty_list_is_copied_as_well),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
