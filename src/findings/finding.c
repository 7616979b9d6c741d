/*
 * finding.c - runs the rules over a snapshot and puts what they found in order.
 *
 * Rules know nothing of each other: each looks at the snapshot alone, and two findings
 * may predict the same bytes. Which to act on, and what that gives back, says advice.h.
 */
#include "findings/finding.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "findings/advice.h"

enum { FINDINGS_MAX_BYTES = 16 << 20 };

const char *const severity_names[SEVERITY_COUNT] = {
    [SEVERITY_INFO] = "info",
    [SEVERITY_WARN] = "warn",
    [SEVERITY_CRITICAL] = "critical",
};

const char *const confidence_names[3] = {
    [CONFIDENCE_MEASURED] = "measured",
    [CONFIDENCE_LIKELY] = "likely",
    [CONFIDENCE_ROUGH] = "rough",
};

const struct rule *rule_find(const char *id)
{
    for (const struct rule *rule = rule_table; rule->id != NULL; rule++) {
        if (strcmp(rule->id, id) == 0) {
            return rule;
        }
    }
    return NULL;
}

/* Severity, then what is to be expected, then the order of the table. */
static int compare_findings(const void *left, const void *right)
{
    const struct finding *a = left;
    const struct finding *b = right;
    const uint64_t a_bytes = advice_expected_bytes(a);
    const uint64_t b_bytes = advice_expected_bytes(b);

    if (a->severity != b->severity) {
        return a->severity > b->severity ? -1 : 1;
    }
    if (a_bytes != b_bytes) {
        return a_bytes > b_bytes ? -1 : 1;
    }
    if (a->rule != b->rule) {
        return a->rule < b->rule ? -1 : 1;
    }
    return (a->pid > b->pid) - (a->pid < b->pid);
}

/* What a rule has added since first is its own; a rule that failed empties the list. */
static int take(
    struct finding_list *list, const struct rule *rule, size_t first, int error)
{
    if (error != 0) {
        finding_list_release(list);
        return error;
    }
    for (size_t i = first; i < list->count; i++) {
        list->items[i].rule = rule;
    }
    return 0;
}

static void begin(struct finding_list *list)
{
    *list = (struct finding_list){.items = NULL};
    region_init(&list->region, FINDINGS_MAX_BYTES);
}

static void sort(struct finding_list *list)
{
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof(*list->items), compare_findings);
    }
}

int findings_run(const struct snapshot *snapshot, struct finding_list *list)
{
    int error = 0;

    begin(list);
    for (const struct rule *rule = rule_table; error == 0 && rule->id != NULL; rule++) {
        const size_t first = list->count;
        if (rule->run != NULL) {
            error = take(list, rule, first, rule->run(snapshot, list));
        }
    }
    sort(list);
    return error;
}

int findings_run_courses(
    const struct course *courses, size_t count, struct finding_list *list)
{
    int error = 0;

    begin(list);
    for (size_t i = 0; i < count; i++) {
        for (const struct rule *rule = rule_table; error == 0 && rule->id != NULL;
             rule++) {
            const size_t first = list->count;
            if (rule->run_course != NULL) {
                error = take(list, rule, first, rule->run_course(&courses[i], list));
            }
        }
    }
    sort(list);
    return error;
}

void finding_list_release(struct finding_list *list)
{
    region_release(&list->region);
    *list = (struct finding_list){.items = NULL};
}

static void copy_text(struct finding_list *copy, const char **text)
{
    if (*text != NULL) {
        *text = region_copy_text(&copy->region, *text);
        copy->failed = copy->failed || *text == NULL;
    }
}

static void own_texts(struct finding_list *copy, struct finding *finding)
{
    copy_text(copy, &finding->summary);
    copy_text(copy, &finding->reasoning);
    copy_text(copy, &finding->fix);
    copy_text(copy, &finding->verify);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        copy_text(copy, &finding->evidence[i].text);
    }
}

int finding_list_copy(const struct finding_list *list, struct finding_list *copy)
{
    *copy = (struct finding_list){.count = list->count, .failed = list->failed};
    region_init(&copy->region, FINDINGS_MAX_BYTES);
    copy->items = region_alloc(&copy->region, (list->count + 1) * sizeof(*copy->items));
    if (copy->items == NULL) {
        copy->failed = true;
        copy->count = 0;
    }
    for (size_t i = 0; i < copy->count; i++) {
        copy->items[i] = list->items[i];
        own_texts(copy, &copy->items[i]);
    }
    if (copy->failed) {
        finding_list_release(copy);
        return -ENOMEM;
    }
    return 0;
}
