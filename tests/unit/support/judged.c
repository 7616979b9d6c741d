/*
 * judged.c - builds the snapshot and runs all rules for each question, so that a test can
 * move one number across a threshold and ask again.
 */
#include "judged.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void forget_verdict(struct judged *judged)
{
    finding_list_release(&judged->list);
    snapshot_release(&judged->snapshot);
}

void judged_release(struct judged *judged)
{
    forget_verdict(judged);
    region_release(&judged->facts.region);
}

int judged_teardown(void **state)
{
    judged_release(*state);
    free(*state);
    return 0;
}

const struct finding *judged_finding(struct judged *judged, const char *id)
{
    forget_verdict(judged);
    assert_non_null(rule_find(id));
    assert_int_equal(snapshot_build(&judged->facts, &judged->snapshot), 0);
    assert_int_equal(findings_run(&judged->snapshot, &judged->list), 0);
    for (size_t i = 0; i < judged->list.count; i++) {
        if (strcmp(judged->list.items[i].rule->id, id) == 0) {
            return &judged->list.items[i];
        }
    }
    return NULL;
}

void assert_speaks(struct judged *judged, const char *id, enum severity severity)
{
    const struct finding *finding = judged_finding(judged, id);

    if (finding == NULL) {
        fail_msg("'%s' is silent", id);
    } else if (finding->severity != severity) {
        fail_msg("'%s' says %s", id, severity_names[finding->severity]);
    }
}

void assert_silent(struct judged *judged, const char *id)
{
    const struct finding *finding = judged_finding(judged, id);

    if (finding != NULL) {
        fail_msg("'%s' says: %s", id, finding->summary);
    }
}

int64_t evidence_of(const struct finding *finding, const char *name)
{
    assert_non_null(finding);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0) {
            return finding->evidence[i].value;
        }
    }
    fail_msg("no evidence '%s'", name);
    return 0;
}

void assert_predicts(const struct finding *finding, uint64_t low, uint64_t high)
{
    assert_non_null(finding);
    assert_true(finding->predicts);
    assert_int_equal(finding->predicted_low_bytes, low);
    assert_int_equal(finding->predicted_high_bytes, high);
}
