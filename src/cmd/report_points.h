/* report_points.h - many ticks as few points, none of whose extremes is lost. */
#ifndef STRATA_CMD_REPORT_POINTS_H
#define STRATA_CMD_REPORT_POINTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "model/growth.h"
#include "model/timeline.h"

enum {
    REPORT_BUCKETS = 360,
    REPORT_SERIES = 6, /* most series of a plot */
    /* Two ticks of a bucket, and as many gaps as there can be buckets. */
    REPORT_MOST_POINTS = REPORT_BUCKETS * 3 + 8,
};

/* One tick of one subject: the figures that its plot shows. */
struct report_sample {
    int64_t at_ms;
    int64_t total; /* what decides which tick of a bucket is the least and the most */
    int64_t values[REPORT_SERIES];
};

/*
 * Collects samples in the order of time. The span is cut into REPORT_BUCKETS; of each bucket the
 * ticks with the least and the most total are kept, so that a peak of one tick is seen in a
 * day. A gap is a point without values.
 */
struct report_points {
    int64_t from_ms;
    int64_t bucket_ms;
    int64_t bucket; /* that is open; -1: none */
    struct report_sample least;
    struct report_sample most;
    struct report_sample *samples; /* in region, REPORT_MOST_POINTS */
    size_t count;
    /* means of buckets, for the slope */
    double sum_total;
    double sum_age;
    size_t in_bucket;
    double requests;
    struct growth_point *by_time;
    struct growth_point *by_requests;
    size_t mean_count;
    size_t request_count;
};

/* 0 or -ENOMEM. */
int report_points_init(
    struct report_points *points, struct region *region, int64_t from_ms, int64_t to_ms);

/* age_seconds: of the process, for the slope; requests: served so far, negative: unknown. */
void report_points_add(struct report_points *points, const struct report_sample *sample,
    double age_seconds, double requests);

/* A pause stands before the next sample. */
void report_points_gap(struct report_points *points);

/* Closes the last bucket. */
void report_points_end(struct report_points *points);

/* The points as a plot with the series of template, whose values are filled. 0 or -ENOMEM. */
int report_points_plot(const struct report_points *points, struct region *region,
    const struct timeline_series *series, size_t series_count,
    struct timeline_plot *plot);

#endif
