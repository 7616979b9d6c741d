/*
 * findings_check.c - the promises of finding.h.
 */
#include "findings_check.h"

#include <string.h>

static const char *check_evidence(const struct evidence *evidence)
{
    if (evidence->name == NULL || strchr(evidence->name, ' ') != NULL) {
        return "evidence without a plain name";
    }
    if (evidence->unit == EVIDENCE_TEXT && evidence->text == NULL) {
        return "evidence of text without a text";
    }
    return NULL;
}

/* Lines to paste: no control character but the end of a line. */
static const char *check_fix(const char *fix)
{
    for (; *fix != '\0'; fix++) {
        if (*fix != '\n' && (unsigned char)*fix < 0x20) {
            return "a control character in a fix";
        }
    }
    return NULL;
}

static const char *check_finding(const struct finding *finding)
{
    if (finding->rule == NULL || rule_find(finding->rule->id) != finding->rule) {
        return "a finding without its rule";
    }
    if (finding->summary == NULL || finding->fix == NULL || finding->verify == NULL) {
        return "a finding without summary, fix or verify";
    }
    if (finding->severity >= SEVERITY_COUNT) {
        return "a severity that does not exist";
    }
    if (finding->predicts &&
        finding->predicted_low_bytes > finding->predicted_high_bytes) {
        return "a range that is upside down";
    }
    if (finding->predicted_cost_bytes > 0 &&
        (!finding->predicts || finding->predicted_low_bytes > 0)) {
        return "a change that takes memory and surely gives some back";
    }
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const char *problem = check_evidence(&finding->evidence[i]);
        if (problem != NULL) {
            return problem;
        }
    }
    return check_fix(finding->fix);
}

const char *findings_check(const struct finding_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        const char *problem = check_finding(&list->items[i]);

        if (problem != NULL) {
            return problem;
        }
        if (i > 0 && list->items[i].severity > list->items[i - 1].severity) {
            return "findings are not in order of severity";
        }
        for (size_t other = 0; other < i; other++) {
            if (list->items[other].rule == list->items[i].rule &&
                list->items[other].pid == list->items[i].pid) {
                return "a rule spoke twice on the same process";
            }
        }
    }
    return NULL;
}
