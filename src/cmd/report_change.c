/*
 * report_change.c - what came of a change, out of two recordings.
 *
 * Ticks are many and captures few: the last capture may be of another moment than the one
 * that the recording ended with. Then its layers are not those of the figures beside them,
 * and nothing is judged by it.
 */
#include "cmd/report_change.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "record/recording_capture.h"

enum { APART_PERCENT = 15, DOUBT_BYTES = 256 };

static const uint64_t apart_bytes = UINT64_C(16) << 20;

/* The target in before that is the same as this one of now; NULL: none. */
static const struct timeline_subject *counterpart(const struct timeline *now,
    const struct timeline *before, const struct timeline_subject *subject)
{
    const struct timeline_subject *only = NULL;
    size_t befores = 0;
    size_t nows = 0;

    for (size_t i = 0; i < before->subject_count; i++) {
        const struct timeline_subject *other = &before->subjects[i];
        if (other->owner != 0) {
            continue;
        }
        if (strcmp(other->name, subject->name) == 0) {
            return other;
        }
        only = other;
        befores++;
    }
    for (size_t i = 0; i < now->subject_count; i++) {
        nows += now->subjects[i].owner == 0;
    }
    return befores == 1 && nows == 1 ? only : NULL;
}

/* The last capture in the span that is shown. */
static int look(const struct recording *recording, const struct timeline *timeline,
    const struct timeline_subject *subject, struct account *account)
{
    const struct recording_capture *capture =
        recording_capture_at(recording, subject->id, timeline->to_ms);

    if (capture == NULL || capture->at_ms < timeline->from_ms ||
        capture->at_ms > timeline->to_ms) {
        return -1;
    }
    return recording_capture_facts(recording, capture, &account->facts, NULL);
}

/* Is the look of another moment than the end of what is shown? doubt says so. */
static const char *doubt_of(const struct snapshot *snapshot,
    const struct timeline_subject *subject, char doubt[DOUBT_BYTES])
{
    const uint64_t seen = snapshot->rss_sum_bytes;
    const uint64_t last = subject->last_bytes;
    const uint64_t more = seen > last ? seen : last;
    const uint64_t apart = more - number_smaller(seen, last);

    if (apart < apart_bytes || apart < more / 100 * APART_PERCENT) {
        return NULL;
    }
    (void)snprintf(doubt, DOUBT_BYTES,
        "the last look of a recording was at %s resident, and it ended with %s",
        quantity_bytes(seen, false).text, quantity_bytes(last, false).text);
    return doubt;
}

/* Both looks and their comparison; false: one of them is not there. */
static bool read_one(const struct recording *recordings[2],
    const struct report_source *now, const struct report_source *before,
    const struct timeline_subject *subject, struct report_changes *changes)
{
    const struct timeline_subject *other =
        counterpart(now->timeline, before->timeline, subject);
    struct account *account = &changes->now[changes->count];
    struct past *past = &changes->past[changes->count];
    char doubt[DOUBT_BYTES];

    if (other == NULL || look(recordings[0], now->timeline, subject, account) != 0 ||
        account_judge_quietly(account) != 0) {
        return false;
    }
    if (look(recordings[1], before->timeline, other, &past->before) == 0 &&
        account_judge_quietly(&past->before) == 0) {
        const char *why = doubt_of(&account->snapshot, subject, doubt);
        if (why == NULL) {
            why = doubt_of(&past->before.snapshot, other, doubt);
        }
        if (past_compare(past, before->path, account, why) == 0) {
            changes->items[changes->count] =
                (struct report_change){subject->id, &past->since};
            return true;
        }
    }
    account_release(account);
    return false;
}

static void read_all(const struct recording *recordings[2],
    const struct report_source *now, const struct report_source *before,
    struct report_changes *changes)
{
    for (size_t i = 0; i < now->timeline->subject_count; i++) {
        const struct timeline_subject *subject = &now->timeline->subjects[i];
        if (subject->owner == 0 && changes->count < REPORT_MOST_CHANGES &&
            read_one(recordings, now, before, subject, changes)) {
            changes->count++;
        }
    }
}

void report_changes_read(const struct report_source *now,
    const struct report_source *before, struct report_changes *changes)
{
    struct recording after;
    struct recording earlier;
    const struct recording *recordings[] = {&after, &earlier};

    changes->count = 0;
    if (recording_open(now->path, &after, NULL) != 0) {
        return;
    }
    if (recording_open(before->path, &earlier, NULL) == 0) {
        read_all(recordings, now, before, changes);
        recording_close(&earlier);
    }
    recording_close(&after);
}

void report_changes_release(struct report_changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        past_release(&changes->past[i]);
        account_release(&changes->now[i]);
    }
    changes->count = 0;
}
