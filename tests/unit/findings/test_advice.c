/* test_advice.c - one change for the same bytes, and no byte promised twice. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "findings/advice.h"

enum { MOST = 16 };

static const uint64_t mib = UINT64_C(1) << 20;

struct made {
    struct finding items[MOST];
    struct finding_list list;
    struct advice advice;
};

static struct finding *add(struct made *made, const char *rule, enum severity severity,
    uint64_t low_mib, uint64_t high_mib, enum confidence confidence)
{
    struct finding *finding = &made->items[made->list.count++];

    *finding = (struct finding){.rule = rule_find(rule),
        .severity = severity,
        .predicts = high_mib > 0,
        .predicted_low_bytes = low_mib * mib,
        .predicted_high_bytes = high_mib * mib,
        .confidence = confidence};
    assert_non_null(finding->rule);
    made->list.items = made->items;
    return finding;
}

static void assert_joint(const struct made *made, uint64_t low_mib, uint64_t high_mib)
{
    assert_int_equal(made->advice.low_bytes, low_mib * mib);
    assert_int_equal(made->advice.high_bytes, high_mib * mib);
}

static void of_the_same_bytes_the_most_to_expect_is_chosen(void **state)
{
    struct made made = {.list.count = 0};
    const struct finding *rough =
        add(&made, "glibc-mmap-threshold", SEVERITY_WARN, 0, 150, CONFIDENCE_ROUGH);
    const struct finding *likely =
        add(&made, "glibc-arenas", SEVERITY_WARN, 98, 127, CONFIDENCE_LIKELY);
    const struct finding *trim =
        add(&made, "glibc-retained", SEVERITY_WARN, 57, 57, CONFIDENCE_MEASURED);

    (void)state;
    advice_of(&made.list, &made.advice);
    assert_int_equal(made.advice.count, 1);
    assert_ptr_equal(made.advice.first[0], likely);
    assert_joint(&made, 98, 127);
    assert_int_equal(made.advice.confidence, CONFIDENCE_LIKELY);
    assert_ptr_equal(advice_instead(&made.advice, rough), likely);
    assert_ptr_equal(advice_instead(&made.advice, trim), likely);
    assert_ptr_equal(advice_instead(&made.advice, likely), likely);
}

static void other_bytes_are_added(void **state)
{
    struct made made = {.list.count = 0};
    const struct finding *schema =
        add(&made, "mysql-schema-memory", SEVERITY_WARN, 94, 104, CONFIDENCE_LIKELY);
    const struct finding *ends =
        add(&made, "glibc-mmap-threshold", SEVERITY_WARN, 140, 190, CONFIDENCE_LIKELY);
    const struct finding *stacks =
        add(&made, "thread-stacks", SEVERITY_INFO, 0, 30, CONFIDENCE_ROUGH);

    (void)state;
    add(&made, "glibc-arenas", SEVERITY_WARN, 60, 110, CONFIDENCE_LIKELY);
    advice_of(&made.list, &made.advice);
    assert_int_equal(made.advice.count, 2);
    assert_ptr_equal(made.advice.first[0], ends);
    assert_ptr_equal(made.advice.first[1], schema);
    assert_joint(&made, 234, 294);
    assert_null(advice_instead(&made.advice, stacks)); /* only worth knowing */
}

static void a_warning_stands_for_its_bytes(void **state)
{
    struct made made = {.list.count = 0};
    const struct finding *better =
        add(&made, "glibc-arenas", SEVERITY_INFO, 60, 100, CONFIDENCE_ROUGH);
    const struct finding *warning =
        add(&made, "glibc-retained", SEVERITY_WARN, 70, 70, CONFIDENCE_MEASURED);

    (void)state;
    advice_of(&made.list, &made.advice);
    assert_int_equal(made.advice.count, 1);
    assert_ptr_equal(made.advice.first[0], better); /* it lasts, a trim does not */
    assert_ptr_equal(advice_instead(&made.advice, warning), better);
    assert_int_equal(made.advice.confidence, CONFIDENCE_ROUGH);
}

static void nothing_given_back_is_no_advice(void **state)
{
    struct made made = {.list.count = 0};
    struct finding *either =
        add(&made, "mysql-thread-cache", SEVERITY_WARN, 0, 20, CONFIDENCE_ROUGH);

    (void)state;
    either->predicted_cost_bytes = 20 * mib;
    add(&made, "preload-not-active", SEVERITY_WARN, 0, 0, CONFIDENCE_MEASURED);
    advice_of(&made.list, &made.advice);
    assert_int_equal(made.advice.count, 0);
    assert_joint(&made, 0, 0);
    assert_null(advice_instead(&made.advice, either));
}

static void the_least_drops_out_of_a_full_list(void **state)
{
    struct made made = {.list.count = 0};

    (void)state;
    for (uint64_t i = 1; i <= ADVICE_MAX + 2; i++) {
        add(&made, "thread-stacks", SEVERITY_WARN, 10 * i, 10 * i, CONFIDENCE_MEASURED);
    }
    advice_of(&made.list, &made.advice);
    assert_int_equal(made.advice.count, ADVICE_MAX);
    assert_ptr_equal(made.advice.first[0], &made.items[ADVICE_MAX + 1]);
    assert_ptr_equal(made.advice.first[ADVICE_MAX - 1], &made.items[2]);
    assert_joint(&made, 520, 520); /* 30 + 40 + ... + 100 */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(of_the_same_bytes_the_most_to_expect_is_chosen),
        cmocka_unit_test(other_bytes_are_added),
        cmocka_unit_test(a_warning_stands_for_its_bytes),
        cmocka_unit_test(nothing_given_back_is_no_advice),
        cmocka_unit_test(the_least_drops_out_of_a_full_list),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
