/* test_growth.c - the rules on time: who decides, how grave it is, what the finding says. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "findings/finding.h"
#include "findings_check.h"

#define MIB (1024.0 * 1024.0)

static struct growth growth_of(enum growth_verdict verdict, double slope)
{
    return (struct growth){.verdict = verdict,
        .points = 100,
        .span = 3600,
        .first_bytes = 100 * MIB,
        .last_bytes = 200 * MIB,
        .slope = slope};
}

static struct course course_of(enum growth_verdict verdict)
{
    return (struct course){.name = "worker",
        .pid = 7,
        .subject = 3,
        .file = "day.db",
        .target = "my worker",
        .first_ms = INT64_C(1764547200000),
        .last_ms = INT64_C(1764550800000),
        .span_seconds = 3600,
        .last_bytes = (uint64_t)(200 * MIB),
        .by_time = growth_of(verdict, MIB / 36)};
}

/* The only finding about course, or NULL. */
static const struct finding *found(const struct course *course, struct finding_list *list)
{
    assert_int_equal(findings_run_courses(course, 1, list), 0);
    assert_null(findings_check(list));
    assert_in_range(list->count, 0, 1);
    return list->count == 0 ? NULL : &list->items[0];
}

static void a_leak_is_a_warning_with_its_pace(void **state)
{
    const struct course course = course_of(GROWTH_LEAK);
    struct finding_list list;
    const struct finding *finding = found(&course, &list);

    (void)state;
    assert_non_null(finding);
    assert_string_equal(finding->rule->id, "growth-leak");
    assert_int_equal(finding->severity, SEVERITY_WARN);
    assert_int_equal(finding->pid, 7);
    assert_non_null(strstr(finding->summary, "100.0 MiB an hour"));
    finding_list_release(&list);
}

/* As typed, also where the recording has several targets. */
static void a_leak_names_the_commands_that_show_it(void **state)
{
    struct course course = course_of(GROWTH_LEAK);
    struct finding_list list;

    (void)state;
    const struct finding *finding = found(&course, &list);
    assert_int_equal(finding->subject, 3);
    assert_non_null(strstr(finding->fix,
        "\nstrata explain day.db 'my worker' --at 2025-12-01T00:00:00Z"
        "\nstrata explain day.db 'my worker' --at 2025-12-01T01:00:00Z"));
    finding_list_release(&list);
    course.target = "it's";
    assert_non_null(strstr(found(&course, &list)->fix, "day.db 'it'\\''s' --at"));
    finding_list_release(&list);
}

/* Neither figure is the first or the last one of the recording. */
static void the_figures_are_said_to_be_medians(void **state)
{
    static const enum growth_verdict grown[] = {GROWTH_LEAK, GROWTH_PLATEAU};
    struct finding_list list;

    (void)state;
    for (size_t i = 0; i < sizeof(grown) / sizeof(grown[0]); i++) {
        const struct course course = course_of(grown[i]);
        assert_non_null(strstr(found(&course, &list)->summary,
            "from 100.0 MiB to 200.0 MiB (medians of the first and the last tenth)"));
        finding_list_release(&list);
    }
}

/* No pace is told for a time that nobody saw. */
static void less_than_an_hour_has_a_pace_by_the_minute(void **state)
{
    struct course course = course_of(GROWTH_LEAK);
    struct finding_list list;

    (void)state;
    course.span_seconds = 3599;
    course.by_time.slope = MIB / 6;
    const struct finding *finding = found(&course, &list);
    assert_non_null(strstr(finding->summary, "10.0 MiB a minute"));
    assert_string_equal(finding->evidence[3].name, "per_minute");
    finding_list_release(&list);
}

/* 100 MiB an hour: 10 GiB are 4 days away, 1 GiB 8 hours. */
static void a_limit_that_is_near_makes_it_critical(void **state)
{
    struct course course = course_of(GROWTH_LEAK);
    struct finding_list list;

    (void)state;
    course.limit_bytes = UINT64_C(10) << 30;
    assert_int_equal(found(&course, &list)->severity, SEVERITY_WARN);
    finding_list_release(&list);
    course.limit_bytes = UINT64_C(1) << 30;
    const struct finding *finding = found(&course, &list);
    assert_int_equal(finding->severity, SEVERITY_CRITICAL);
    assert_non_null(strstr(finding->reasoning, "1.0 GiB is met in 8 h"));
    assert_non_null(strstr(finding->reasoning, "as in the 1 h 0 min that were seen"));
    finding_list_release(&list);
    course.span_seconds = 2700; /* eight hours are more than ten times that */
    assert_int_equal(found(&course, &list)->severity, SEVERITY_WARN);
    finding_list_release(&list);
}

static void requests_decide_where_they_are_counted(void **state)
{
    struct course course = course_of(GROWTH_LEAK);
    struct finding_list list;

    (void)state;
    course.by_requests = growth_of(GROWTH_PLATEAU, 10);
    assert_string_equal(found(&course, &list)->rule->id, "growth-plateau");
    finding_list_release(&list);
    course.by_requests = growth_of(GROWTH_LEAK, MIB / 500);
    assert_non_null(
        strstr(found(&course, &list)->summary, "2.0 MiB for a thousand requests"));
    finding_list_release(&list);
    course.by_requests = growth_of(GROWTH_UNCLEAR, 0);
    assert_string_equal(found(&course, &list)->rule->id, "growth-leak");
    finding_list_release(&list);
    course.by_requests = growth_of(GROWTH_SHORT, 0);
    assert_string_equal(found(&course, &list)->rule->id, "growth-leak");
    finding_list_release(&list);
}

static void what_slows_down_is_said_so(void **state)
{
    const struct course course = course_of(GROWTH_SLOWING);
    struct finding_list list;

    (void)state;
    const struct finding *finding = found(&course, &list);
    assert_string_equal(finding->rule->id, "growth-plateau");
    assert_non_null(strstr(finding->summary, "slows down"));
    finding_list_release(&list);
}

static void what_does_not_grow_is_no_finding(void **state)
{
    static const enum growth_verdict quiet[] = {
        GROWTH_UNCLEAR, GROWTH_SHORT, GROWTH_STEADY, GROWTH_SHRINKING};
    struct finding_list list;

    (void)state;
    for (size_t i = 0; i < sizeof(quiet) / sizeof(quiet[0]); i++) {
        const struct course course = course_of(quiet[i]);
        assert_null(found(&course, &list));
        finding_list_release(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_leak_is_a_warning_with_its_pace),
        cmocka_unit_test(a_leak_names_the_commands_that_show_it),
        cmocka_unit_test(the_figures_are_said_to_be_medians),
        cmocka_unit_test(less_than_an_hour_has_a_pace_by_the_minute),
        cmocka_unit_test(a_limit_that_is_near_makes_it_critical),
        cmocka_unit_test(requests_decide_where_they_are_counted),
        cmocka_unit_test(what_slows_down_is_said_so),
        cmocka_unit_test(what_does_not_grow_is_no_finding),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
