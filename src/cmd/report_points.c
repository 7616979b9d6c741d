/*
 * report_points.c - the reduction of a day of ticks to what a screen can show.
 *
 * All series of a plot keep the same ticks, so that a stack is always of one moment.
 */
#include "cmd/report_points.h"

#include <errno.h>

int report_points_init(
    struct report_points *points, struct region *region, int64_t from_ms, int64_t to_ms)
{
    *points = (struct report_points){.from_ms = from_ms,
        .bucket_ms = (to_ms - from_ms) / REPORT_BUCKETS + 1,
        .bucket = -1,
        .requests = -1};
    points->samples = region_alloc(region, REPORT_MOST_POINTS * sizeof(*points->samples));
    points->by_time = region_alloc(region, REPORT_BUCKETS * sizeof(*points->by_time));
    points->by_requests =
        region_alloc(region, REPORT_BUCKETS * sizeof(*points->by_requests));
    return points->samples == NULL || points->by_time == NULL ||
                   points->by_requests == NULL
               ? -ENOMEM
               : 0;
}

static void push(struct report_points *points, const struct report_sample *sample)
{
    if (points->count < REPORT_MOST_POINTS) {
        points->samples[points->count++] = *sample;
    }
}

static void push_mean(struct report_points *points)
{
    const double mean = points->sum_total / (double)points->in_bucket;

    if (points->mean_count < REPORT_BUCKETS) {
        points->by_time[points->mean_count++] =
            (struct growth_point){points->sum_age / (double)points->in_bucket, mean};
    }
    if (points->requests >= 0 && points->request_count < REPORT_BUCKETS) {
        points->by_requests[points->request_count++] =
            (struct growth_point){points->requests, mean};
    }
}

void report_points_end(struct report_points *points)
{
    if (points->bucket < 0) {
        return;
    }
    const bool least_first = points->least.at_ms < points->most.at_ms;

    push(points, least_first ? &points->least : &points->most);
    if (points->least.at_ms != points->most.at_ms) {
        push(points, least_first ? &points->most : &points->least);
    }
    push_mean(points);
    points->bucket = -1;
    points->sum_total = 0;
    points->sum_age = 0;
    points->in_bucket = 0;
}

void report_points_add(struct report_points *points, const struct report_sample *sample,
    double age_seconds, double requests)
{
    const int64_t bucket = (sample->at_ms - points->from_ms) / points->bucket_ms;

    if (bucket != points->bucket) {
        report_points_end(points);
        points->bucket = bucket;
        points->least = *sample;
        points->most = *sample;
    }
    if (sample->total < points->least.total) {
        points->least = *sample;
    }
    if (sample->total > points->most.total) {
        points->most = *sample;
    }
    points->sum_total += (double)sample->total;
    points->sum_age += age_seconds;
    points->in_bucket++;
    points->requests = requests;
}

void report_points_gap(struct report_points *points)
{
    struct report_sample gap = {.total = TIMELINE_MISSING};

    report_points_end(points);
    if (points->count == 0 ||
        points->samples[points->count - 1].total == TIMELINE_MISSING) {
        return;
    }
    for (int i = 0; i < REPORT_SERIES; i++) {
        gap.values[i] = TIMELINE_MISSING;
    }
    gap.at_ms = points->samples[points->count - 1].at_ms + 1;
    push(points, &gap);
}

static bool has_values(const struct timeline_series *series, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (series->values[i] != TIMELINE_MISSING && series->values[i] != 0) {
            return true;
        }
    }
    return false;
}

int report_points_plot(const struct report_points *points, struct region *region,
    const struct timeline_series *series, size_t series_count, struct timeline_plot *plot)
{
    plot->count = points->count;
    plot->times_ms = region_alloc(region, points->count * sizeof(*plot->times_ms));
    plot->series = region_alloc(region, series_count * sizeof(*plot->series));
    if (plot->times_ms == NULL || plot->series == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < points->count; i++) {
        plot->times_ms[i] = points->samples[i].at_ms;
    }
    for (size_t s = 0; s < series_count; s++) {
        struct timeline_series *made = &plot->series[plot->series_count];
        *made = series[s];
        made->values = region_alloc(region, points->count * sizeof(*made->values));
        if (made->values == NULL) {
            return -ENOMEM;
        }
        for (size_t i = 0; i < points->count; i++) {
            made->values[i] = points->samples[i].values[s];
        }
        plot->series_count += has_values(made, points->count);
    }
    return 0;
}
