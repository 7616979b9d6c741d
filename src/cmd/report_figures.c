/*
 * report_figures.c - from metrics by name to the series of plots.
 *
 * Resident memory of several processes is the sum over them: ticks do not read frames, so what
 * they share is counted for each; the layers of captures count it once.
 */
#include "cmd/report_figures.h"

enum { ANON, FILE_PAGES, SHMEM, SWAP, CHARGED, LIMIT };
enum { IN_USE, FREE_RESIDENT, OUTSIDE, TRACKED, GAP, RESIDUAL };

const struct timeline_series report_kernel_series[REPORT_SERIES] = {
    [ANON] = {"anon", "anonymous", TIMELINE_STACK, NULL},
    [FILE_PAGES] = {"file", "pages of files", TIMELINE_STACK, NULL},
    [SHMEM] = {"shmem", "shared memory", TIMELINE_STACK, NULL},
    [SWAP] = {"swap", "swapped out", TIMELINE_STACK, NULL},
    [CHARGED] = {"charged", "charged to the cgroup", TIMELINE_LINE, NULL},
    [LIMIT] = {"limit", "limit of the cgroup", TIMELINE_LIMIT, NULL},
};

const struct timeline_series report_layer_series[REPORT_SERIES] = {
    [IN_USE] = {"in_use", "in use", TIMELINE_STACK, NULL},
    [FREE_RESIDENT] = {"free_resident", "free in the allocator, resident", TIMELINE_STACK,
        NULL},
    [OUTSIDE] = {"outside", "resident outside the allocator", TIMELINE_STACK, NULL},
    [TRACKED] = {"tracked", "tracked by the application", TIMELINE_LINE, NULL},
    [GAP] = {"gap", "gap: resident less in use", TIMELINE_LINE, NULL},
    [RESIDUAL] = {"residual", "residual: in no layer", TIMELINE_LINE, NULL},
};

struct report_metrics report_metrics_of(const struct recording *recording)
{
    return (struct report_metrics){
        .rss = recording_metric(recording, "process.vm_rss"),
        .anon = recording_metric(recording, "process.rss_anon"),
        .file = recording_metric(recording, "process.rss_file"),
        .shmem = recording_metric(recording, "process.rss_shmem"),
        .swap = recording_metric(recording, "process.vm_swap"),
        .usage = recording_metric(recording, "cgroup.usage"),
        .limit = recording_metric(recording, "cgroup.limit_effective"),
        .tracked = recording_metric(recording, "layer.tracked"),
        .in_use = recording_metric(recording, "layer.in_use"),
        .free_resident = recording_metric(recording, "layer.free_resident"),
        .resident = recording_metric(recording, "layer.resident"),
        .residual = recording_metric(recording, "layer.residual"),
        .requests = recording_metric(recording, "service.requests"),
        .capture = recording_metric(recording, "capture.number"),
    };
}

/* Far from wrapping when a hostile recording's figures are added up. */
static int64_t figure(const struct recording_cursor *cursor, uint32_t subject, int metric)
{
    const int64_t most = INT64_C(1) << 48;
    const struct fact fact = recording_value(cursor, subject, metric);
    const int64_t value = (int64_t)fact.value;

    if (fact.state != FACT_OK && fact.state != FACT_STALE) {
        return TIMELINE_MISSING;
    }
    return value > most ? most : value < -most ? -most : value;
}

double report_count(const struct recording_cursor *cursor, uint32_t subject, int metric)
{
    const int64_t value = figure(cursor, subject, metric);

    return value == TIMELINE_MISSING ? -1 : (double)value;
}

struct report_sample report_empty_sample(int64_t at_ms)
{
    struct report_sample sample = {.at_ms = at_ms};

    for (int i = 0; i < REPORT_SERIES; i++) {
        sample.values[i] = TIMELINE_MISSING;
    }
    return sample;
}

bool report_process_sample(const struct recording_cursor *cursor,
    const struct report_metrics *metrics, uint32_t subject, struct report_sample *sample)
{
    sample->total = figure(cursor, subject, metrics->rss);
    if (sample->total == TIMELINE_MISSING) {
        return false;
    }
    sample->values[ANON] = figure(cursor, subject, metrics->anon);
    sample->values[FILE_PAGES] = figure(cursor, subject, metrics->file);
    sample->values[SHMEM] = figure(cursor, subject, metrics->shmem);
    sample->values[SWAP] = figure(cursor, subject, metrics->swap);
    return true;
}

void report_add_member(struct report_sample *target, const struct report_sample *member)
{
    target->total += member->total;
    for (int i = ANON; i <= SWAP; i++) {
        if (member->values[i] != TIMELINE_MISSING) {
            target->values[i] =
                member->values[i] +
                (target->values[i] == TIMELINE_MISSING ? 0 : target->values[i]);
        }
    }
}

void report_add_cgroup(const struct recording_cursor *cursor,
    const struct report_metrics *metrics, uint32_t cgroup, struct report_sample *target)
{
    target->values[CHARGED] = figure(cursor, cgroup, metrics->usage);
    target->values[LIMIT] = figure(cursor, cgroup, metrics->limit);
}

bool report_layer_sample(const struct recording_cursor *cursor,
    const struct report_metrics *metrics, uint32_t subject, struct report_sample *sample)
{
    const int64_t resident = figure(cursor, subject, metrics->resident);
    const int64_t in_use = figure(cursor, subject, metrics->in_use);
    const int64_t free_resident = figure(cursor, subject, metrics->free_resident);
    int64_t outside = resident;

    sample->total = resident;
    if (resident == TIMELINE_MISSING) {
        return false;
    }
    sample->values[IN_USE] = in_use;
    sample->values[FREE_RESIDENT] = free_resident;
    outside -= in_use != TIMELINE_MISSING ? in_use : 0;
    outside -= free_resident != TIMELINE_MISSING ? free_resident : 0;
    sample->values[OUTSIDE] = outside > 0 ? outside : 0;
    sample->values[TRACKED] = figure(cursor, subject, metrics->tracked);
    sample->values[GAP] = in_use == TIMELINE_MISSING ? in_use : resident - in_use;
    sample->values[RESIDUAL] = figure(cursor, subject, metrics->residual);
    return true;
}
