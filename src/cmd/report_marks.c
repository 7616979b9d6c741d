/*
 * report_marks.c - events and findings out of a recording's lists.
 *
 * A finding is told by every capture that has it; here it is one row, with a mark where it
 * first appeared. Marks are bounded: a report is for people.
 */
#include "cmd/report_marks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"

enum { MOST_MARKS = 2000, MOST_FINDINGS = 1000, MS_PER_SECOND = 1000 };

static int add_mark(struct timeline *timeline, const struct timeline_mark *mark)
{
    struct timeline_mark *place;

    if (timeline->mark_count == MOST_MARKS) {
        return 0;
    }
    place = region_grow(&timeline->region, &timeline->marks, timeline->mark_count,
        MOST_MARKS, sizeof(*place));
    if (place == NULL) {
        return -ENOMEM;
    }
    *place = *mark;
    place->text = region_copy_text(&timeline->region, mark->text);
    place->kind = region_copy_text(&timeline->region, mark->kind);
    place->severity = region_copy_text(&timeline->region, mark->severity);
    timeline->mark_count++;
    return place->text == NULL || place->kind == NULL || place->severity == NULL ? -ENOMEM
                                                                                 : 0;
}

int report_marks_gap(struct timeline *timeline, int64_t from_ms, int64_t to_ms)
{
    char text[96];
    const struct timeline_mark mark = {
        .at_ms = from_ms, .kind = "gap", .severity = "", .text = text};

    (void)snprintf(text, sizeof(text), "nothing was recorded for %s",
        quantity_seconds((uint64_t)(to_ms - from_ms) / MS_PER_SECOND).text);
    return add_mark(timeline, &mark);
}

static bool in_span(const struct timeline *timeline, int64_t at_ms)
{
    return at_ms >= timeline->from_ms && at_ms <= timeline->to_ms;
}

static int add_events(const struct recording *recording, struct timeline *timeline)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < recording->event_count; i++) {
        const struct recording_event *event = &recording->events[i];
        const struct timeline_mark mark = {.at_ms = event->at_ms,
            .subject = event->subject,
            .kind = event->kind,
            .severity = "",
            .text = event->text};
        if (in_span(timeline, event->at_ms)) {
            rc = add_mark(timeline, &mark);
        }
    }
    return rc;
}

static int rank(const char *severity)
{
    static const char *const names[] = {"info", "warn", "critical"};

    for (int i = 0; i < 3; i++) {
        if (strcmp(severity, names[i]) == 0) {
            return i;
        }
    }
    return -1;
}

static struct timeline_finding *find(
    struct timeline *timeline, const struct recording_finding *finding)
{
    for (size_t i = 0; i < timeline->finding_count; i++) {
        struct timeline_finding *known = &timeline->findings[i];
        if (known->subject == finding->subject && known->pid == finding->pid &&
            strcmp(known->rule, finding->rule) == 0) {
            return known;
        }
    }
    return NULL;
}

/* Strings of the recording live as long as it; the timeline outlives it. */
static int copy_texts(struct timeline *timeline, struct timeline_finding *finding)
{
    struct region *region = &timeline->region;

    finding->rule = region_copy_text(region, finding->rule);
    finding->severity = region_copy_text(region, finding->severity);
    finding->summary = region_copy_text(region, finding->summary);
    return finding->rule == NULL || finding->severity == NULL || finding->summary == NULL
               ? -ENOMEM
               : 0;
}

static int add_finding(struct timeline *timeline, const struct recording_finding *finding)
{
    struct timeline_finding *known = find(timeline, finding);

    if (known != NULL) {
        known->last_ms = finding->at_ms;
        known->summary = finding->summary;
        known->predicts = finding->predicts;
        known->low_bytes = finding->low_bytes;
        known->high_bytes = finding->high_bytes;
        known->count++;
        known->severity = rank(finding->severity) > rank(known->severity)
                              ? finding->severity
                              : known->severity;
        return 0;
    }
    if (timeline->finding_count == MOST_FINDINGS) {
        return 0;
    }
    known = region_grow(&timeline->region, &timeline->findings, timeline->finding_count,
        MOST_FINDINGS, sizeof(*known));
    if (known == NULL) {
        return -ENOMEM;
    }
    *known = (struct timeline_finding){.subject = finding->subject,
        .pid = finding->pid,
        .rule = finding->rule,
        .severity = finding->severity,
        .summary = finding->summary,
        .predicts = finding->predicts,
        .low_bytes = finding->low_bytes,
        .high_bytes = finding->high_bytes,
        .first_ms = finding->at_ms,
        .last_ms = finding->at_ms,
        .count = 1};
    timeline->finding_count++;
    return 0;
}

static int compare_findings(const void *left, const void *right)
{
    const struct timeline_finding *a = left;
    const struct timeline_finding *b = right;
    const int ranks = rank(b->severity) - rank(a->severity);

    if (ranks != 0) {
        return ranks;
    }
    return (a->first_ms > b->first_ms) - (a->first_ms < b->first_ms);
}

static int compare_marks(const void *left, const void *right)
{
    const struct timeline_mark *a = left;
    const struct timeline_mark *b = right;

    return (a->at_ms > b->at_ms) - (a->at_ms < b->at_ms);
}

static int add_findings(const struct recording *recording, struct timeline *timeline)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < recording->finding_count; i++) {
        if (in_span(timeline, recording->findings[i].at_ms)) {
            rc = add_finding(timeline, &recording->findings[i]);
        }
    }
    for (size_t i = 0; rc == 0 && i < timeline->finding_count; i++) {
        struct timeline_finding *finding = &timeline->findings[i];
        rc = copy_texts(timeline, finding);
        const struct timeline_mark mark = {.at_ms = finding->first_ms,
            .subject = finding->subject,
            .kind = "finding",
            .severity = finding->severity,
            .text = finding->rule};
        if (rc == 0 && rank(finding->severity) > 0) {
            rc = add_mark(timeline, &mark);
        }
    }
    return rc;
}

int report_marks_add(const struct recording *recording, struct timeline *timeline)
{
    int rc = add_events(recording, timeline);

    if (rc == 0) {
        rc = add_findings(recording, timeline);
    }
    if (rc == 0 && timeline->finding_count > 1) {
        qsort(timeline->findings, timeline->finding_count, sizeof(*timeline->findings),
            compare_findings);
    }
    if (rc == 0 && timeline->mark_count > 1) {
        qsort(timeline->marks, timeline->mark_count, sizeof(*timeline->marks),
            compare_marks);
    }
    return rc;
}
