/*
 * plan_recording.c - ticks of a recording as samples of a plan.
 *
 * Who is a worker is told by the capture that the plan is made from; a process that had ended by
 * then was one too, unless its title says that it was the master. A tick counts when the
 * rollup of a worker was read in it.
 */
#include "cmd/plan_recording.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"
#include "model/workers.h"
#include "plan/distribution.h"
#include "record/recording.h"
#include "record/recording_cursor.h"

enum { TICKS_MOST = 1 << 20 };

struct collector {
    const struct recording *recording;
    const struct facts *facts;
    struct workers workers;
    uint32_t owner;
    int clean; /* metrics */
    int dirty;
    uint64_t *samples;
    size_t sample_count;
    uint64_t *sums; /* of the pool, one for each tick */
    size_t tick_count;
};

static bool is_worker(
    const struct collector *collector, const struct recording_subject *subject)
{
    const struct facts *facts = collector->facts;

    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].pid != subject->pid ||
            facts->processes[i].start_time_ticks != subject->start_ticks) {
            continue;
        }
        for (size_t j = 0; j < collector->workers.count; j++) {
            if (collector->workers.indices[j] == i) {
                return true;
            }
        }
        return false;
    }
    return strstr(subject->title, "master") == NULL;
}

/* Which subjects count is the same at each tick. */
static size_t find_subjects(const struct collector *collector, uint32_t *ids)
{
    const struct recording *recording = collector->recording;
    size_t count = 0;

    for (size_t i = 0; i < recording->subject_count; i++) {
        const struct recording_subject *subject = &recording->subjects[i];
        if (subject->kind == RECORDING_PROCESS && subject->owner == collector->owner &&
            is_worker(collector, subject)) {
            ids[count++] = subject->id;
        }
    }
    return count;
}

static void take_tick(struct collector *collector, const struct recording_cursor *cursor,
    const uint32_t *ids, size_t count)
{
    uint64_t sum = 0;
    bool any = false;

    for (size_t i = 0; i < count && collector->sample_count < PLAN_MAX_SAMPLES; i++) {
        const struct fact clean = recording_value(cursor, ids[i], collector->clean);
        const struct fact dirty = recording_value(cursor, ids[i], collector->dirty);
        if (!fact_is_known(&clean) || !fact_is_known(&dirty)) {
            continue;
        }
        const uint64_t bytes = number_add(clean.value, dirty.value);
        collector->samples[collector->sample_count++] = bytes;
        sum = number_add(sum, bytes);
        any = true;
    }
    if (any && collector->tick_count < TICKS_MOST) {
        collector->sums[collector->tick_count++] = sum;
    }
}

static int walk(struct collector *collector, struct error *error)
{
    const struct recording *recording = collector->recording;
    uint32_t *ids = calloc(recording->subject_count + 1, sizeof(*ids));
    struct recording_cursor *cursor = NULL;
    struct recording_tick tick;
    int rc = ids == NULL ? -ENOMEM : 0;

    if (rc == 0) {
        rc = recording_cursor_open(
            recording, recording->first_ms, recording->last_ms, &cursor, error);
    }
    const size_t count = rc == 0 ? find_subjects(collector, ids) : 0;
    while (rc == 0 && (rc = recording_next(cursor, &tick, error)) == 1) {
        take_tick(collector, cursor, ids, count);
        rc = 0;
    }
    if (cursor != NULL) {
        recording_cursor_close(cursor);
    }
    free(ids);
    return rc;
}

/* The subject of the target: the one of that name, or the only one; 0: none. */
static uint32_t owner_of(const struct recording *recording, const char *target)
{
    for (size_t i = 0; i < recording->subject_count; i++) {
        const struct recording_subject *subject = &recording->subjects[i];
        if (subject->kind == RECORDING_TARGET &&
            (target == NULL || strcmp(subject->name, target) == 0)) {
            return subject->id;
        }
    }
    return 0;
}

static int prepare(struct region *region, const char *target, struct collector *collector)
{
    const struct recording *recording = collector->recording;

    collector->owner = owner_of(recording, target);
    collector->clean = recording_metric(recording, "process.private_clean");
    collector->dirty = recording_metric(recording, "process.private_dirty");
    if (collector->owner == 0 || collector->clean < 0 || collector->dirty < 0) {
        return -ENODATA;
    }
    /* samples stay with the plan, sums are of this function */
    const size_t most = number_smaller(
        PLAN_MAX_SAMPLES, (recording->tick_count + 1) * (recording->subject_count + 1));
    collector->samples = region_alloc(region, most * sizeof(uint64_t));
    collector->sums =
        calloc(number_smaller(TICKS_MOST, recording->tick_count + 1), sizeof(uint64_t));
    if (collector->samples == NULL || collector->sums == NULL) {
        return -ENOMEM;
    }
    return workers_find(region, collector->facts, &collector->workers);
}

static void put_samples(
    struct region *region, struct collector *collector, struct plan_input *input)
{
    const struct distribution sums =
        distribution_of(collector->sums, collector->tick_count);
    const char *source =
        region_printf(region, "a recording: %s of its pool, %s of a worker",
            quantity_count(collector->tick_count, "moment").text,
            quantity_count(collector->sample_count, "sample").text);

    if (source == NULL || collector->sample_count == 0) {
        return;
    }
    input->source = source;
    input->samples_are_peaks = false;
    input->private_bytes = collector->samples;
    input->private_count = collector->sample_count;
    input->concurrency =
        sums.mean_bytes > 0 ? (double)sums.p95_bytes / sums.mean_bytes : 0;
}

int plan_recording_samples(struct region *region, const char *path, const char *target,
    const struct facts *facts, struct plan_input *input, struct error *error)
{
    struct recording recording;
    struct collector collector = {.recording = &recording, .facts = facts};
    int rc = recording_open(path, &recording, error);

    if (rc != 0) {
        return rc;
    }
    rc = prepare(region, target, &collector);
    if (rc == 0) {
        rc = walk(&collector, error);
    }
    if (rc == 0) {
        put_samples(region, &collector, input);
    }
    free(collector.sums);
    recording_close(&recording);
    return rc == -ENODATA ? 0 : rc;
}
