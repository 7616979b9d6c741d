/* report_figures.h - the figures of one tick of a recording that a report shows. */
#ifndef STRATA_CMD_REPORT_FIGURES_H
#define STRATA_CMD_REPORT_FIGURES_H

#include <stdbool.h>

#include "cmd/report_points.h"
#include "record/recording.h"
#include "record/recording_cursor.h"

/* Numbers of the metrics in this recording, -1 for those it does not have. */
struct report_metrics {
    int rss, anon, file, shmem, swap;
    int usage, limit;
    int tracked, in_use, free_resident, resident, residual;
    int requests, capture;
};

struct report_metrics report_metrics_of(const struct recording *recording);

/* The series of both plots; values are NULL. */
extern const struct timeline_series report_kernel_series[REPORT_SERIES];
extern const struct timeline_series report_layer_series[REPORT_SERIES];

/* Resident memory of a process by the kernel's kinds. False: it does not live, or is not known. */
bool report_process_sample(const struct recording_cursor *cursor,
    const struct report_metrics *metrics, uint32_t subject, struct report_sample *sample);

/* Adds a member to its target's sample, which starts as report_empty_sample(). */
void report_add_member(struct report_sample *target, const struct report_sample *member);
struct report_sample report_empty_sample(int64_t at_ms);

/* What the cgroup is charged for and its limit, into the target's sample. */
void report_add_cgroup(const struct recording_cursor *cursor,
    const struct report_metrics *metrics, uint32_t cgroup, struct report_sample *target);

/* Layers as the last capture had them. False: none, or resident is not known. */
bool report_layer_sample(const struct recording_cursor *cursor,
    const struct report_metrics *metrics, uint32_t subject, struct report_sample *sample);

/* A count, or -1. */
double report_count(const struct recording_cursor *cursor, uint32_t subject, int metric);

#endif
