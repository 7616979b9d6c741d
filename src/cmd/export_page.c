/*
 * export_page.c - rows of the watch, put side by side with the last look inside of each.
 *
 * A target that was looked into is told by that look alone, so that its layers belong together;
 * one that was not yet has what the look at the host gave.
 */
#include "cmd/export_page.h"
#include "cmd/version.h"

#include <errno.h>
#include <stdlib.h>

enum { ERROR_REASONS = 4 };

static double seconds(uint64_t ns)
{
    return (double)ns / 1e9;
}

static struct metrics_target target_of(const struct watch_row *row, uint64_t now_ns)
{
    const struct watch_look *look = row->look;
    struct metrics_target target = {.labels = row->labels,
        .members = row->plain->snapshot.facts,
        .layers = row->plain->snapshot.layers,
        .findings = &row->plain->list};

    if (look != NULL) {
        target.layers = look->layers;
        target.findings = watch_look_findings(look);
        target.looked = true;
        target.denied = look->denied;
        target.complete = look->complete;
        target.age_seconds = seconds(now_ns - look->taken_ns);
        target.glibc = &look->glibc;
        target.sizing = look->sizing;
    }
    return target;
}

static void fill_errors(
    const struct watch_counts *counts, struct metrics_count errors[ERROR_REASONS])
{
    errors[0] = (struct metrics_count){"host", counts->host_failures};
    errors[1] = (struct metrics_count){"gone", counts->failures[FACT_GONE]};
    errors[2] = (struct metrics_count){"denied", counts->failures[FACT_DENIED]};
    errors[3] = (struct metrics_count){
        "other", counts->failures[FACT_MALFORMED] + counts->failures[FACT_ABSENT]};
}

static struct metrics_self self_of(const struct watch_moment *moment, uint64_t now_ns)
{
    const struct watch_counts *counts = &moment->counts;

    return (struct metrics_self){.version = version_text(),
        .host_age_seconds =
            moment->overview != NULL ? seconds(now_ns - moment->host_taken_ns) : -1,
        .host_duration_seconds = seconds(counts->host_wall_ns),
        .look_duration_seconds = seconds(counts->look_wall_ns),
        .cpu_seconds = seconds(counts->cpu_ns),
        .host_looks = counts->host_looks,
        .looks = counts->looks,
        .targets_seen = moment->count};
}

int export_page_render(struct watch *watch, size_t most,
    const struct metrics_count *requests, size_t request_count,
    enum metrics_format format, struct buffer *buffer)
{
    struct metrics_count errors[ERROR_REASONS];
    struct watch_moment moment;
    int rc = watch_take(watch, &moment);

    if (rc != 0) {
        return rc;
    }
    const uint64_t now_ns = watch_now_ns();
    struct metrics_target *targets = calloc(moment.count + 1, sizeof(*targets));
    struct metrics_page page = {
        .host = moment.overview != NULL ? moment.overview->host : NULL,
        .targets = targets,
        .self = self_of(&moment, now_ns)};
    for (size_t i = 0; targets != NULL && i < moment.count; i++) {
        if (i < most || moment.rows[i].look != NULL) {
            targets[page.target_count++] = target_of(&moment.rows[i], now_ns);
        }
    }
    if (targets != NULL) {
        fill_errors(&moment.counts, errors);
        page.self.errors = errors;
        page.self.error_count = ERROR_REASONS;
        page.self.requests = requests;
        page.self.request_count = request_count;
        present_metrics(&page, format, buffer);
    }
    free(targets);
    watch_moment_release(&moment);
    return targets != NULL ? buffer_error(buffer) : -ENOMEM;
}
