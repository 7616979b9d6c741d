/* test_strata_rules.c - the rules on strata's malloc at the edges of their thresholds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "judged.h"

static struct judged judged;
static struct process_facts *process;
static struct strata_facts *strata;

static int setup(void **state)
{
    (void)state;
    judged = (struct judged){0};
    builder_init(&judged.facts);
    process = builder_process(&judged.facts, 812, "server");
    strata = &process->strata;
    strata->state = FACT_OK;
    strata->resident_state = FACT_OK;
    strata->in_use_bytes = 40 * MIB;
    strata->large_bytes = 40 * MIB;
    strata->held_bytes = 200 * MIB;
    builder_set_rss(builder_mapping(&judged.facts, process, UINT64_C(0x600000000000),
                        8 * GIB, "rw-p", "[anon:x]"),
        100 * MIB);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    judged_release(&judged);
    return 0;
}

static void the_limit_speaks_near_it(void **state)
{
    (void)state;
    strata->limit_charged_bytes = 90 * MIB;
    assert_silent(&judged, "strata-limit");
    strata->limit_hard_bytes = 100 * MIB;
    assert_speaks(&judged, "strata-limit", SEVERITY_WARN);
    const struct finding *finding = judged_finding(&judged, "strata-limit");
    assert_int_equal(evidence_of(finding, "charged"), 90 * MIB);
    assert_int_equal(finding->pid, 812);
    strata->limit_charged_bytes -= MIB;
    assert_silent(&judged, "strata-limit");
}

static void a_refusal_is_critical(void **state)
{
    (void)state;
    strata->limit_hard_bytes = 100 * MIB;
    strata->limit_peak_bytes = 100 * MIB;
    strata->limit_charged_bytes = 10 * MIB;
    strata->limit_refused = 3;
    assert_speaks(&judged, "strata-limit", SEVERITY_CRITICAL);
    const struct finding *finding = judged_finding(&judged, "strata-limit");
    assert_int_equal(evidence_of(finding, "refused"), 3);
    assert_non_null(strstr(finding->fix, "STRATA_LIMIT=126M"));
    strata->state = FACT_DENIED;
    assert_silent(&judged, "strata-limit");
}

static void retained_speaks_from_a_tenth_on(void **state)
{
    (void)state;
    strata->span_free_bytes = 100 * MIB;
    strata->span_touched_bytes = 6 * MIB;
    strata->touched_bytes = 50 * MIB;
    strata->free_resident_bytes = 8 * MIB;
    strata->cached_bytes = 2 * MIB;
    assert_speaks(&judged, "strata-retained", SEVERITY_INFO);
    const struct finding *finding = judged_finding(&judged, "strata-retained");
    assert_int_equal(evidence_of(finding, "free_resident"), 10 * MIB);
    assert_int_equal(finding->predicted_low_bytes, 0);
    assert_int_equal(finding->predicted_high_bytes, 6 * MIB);
    strata->span_touched_bytes = 0;
    assert_speaks(&judged, "strata-retained", SEVERITY_INFO);
    assert_false(judged_finding(&judged, "strata-retained")->predicts);
    assert_non_null(strstr(
        judged_finding(&judged, "strata-retained")->summary, "all of it on pages"));
    strata->span_touched_bytes = 6 * MIB;
    strata->free_resident_bytes--;
    assert_silent(&judged, "strata-retained");
    strata->free_resident_bytes = 62 * MIB;
    assert_speaks(&judged, "strata-retained", SEVERITY_WARN);
    strata->resident_state = FACT_DENIED;
    assert_silent(&judged, "strata-retained");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_limit_speaks_near_it, setup, teardown),
        cmocka_unit_test_setup_teardown(a_refusal_is_critical, setup, teardown),
        cmocka_unit_test_setup_teardown(retained_speaks_from_a_tenth_on, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
