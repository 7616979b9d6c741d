/*
 * report_build.c - two passes over the ticks, then the lists beside them.
 *
 * A pool may have had tens of thousands of workers in a day, so the first pass keeps a few
 * numbers for each and the second the points of the largest.
 */
#include "cmd/report_build.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "cmd/report_figures.h"
#include "cmd/report_marks.h"

enum {
    TIMELINE_MAX_BYTES = 1 << 30,
    /* Start times are in ticks of the user interface, 100 a second on all that Linux
     * runs on here (USER_HZ). */
    MS_PER_START_TICK = 10,
    MS_PER_SECOND = 1000,
};

/* What the passes know of one subject of the recording. */
struct seen {
    const struct recording_subject *subject;
    bool shown;
    int64_t first_ms;
    int64_t last_ms;
    int64_t first_total;
    int64_t last_total;
    int64_t peak_total;
    size_t members_most; /* of a target */
    size_t members_now;
    int64_t sum_now;              /* of a target's members at this tick */
    double capture;               /* number of the last one that was taken in */
    struct report_points *points; /* of the plot of ticks, and of that of captures */
    struct report_points *layers;
    struct report_sample sample; /* at this tick */
    bool sampled;
    uint32_t cgroup; /* of a target: the one that bills it; 0: none or several */
    int64_t oldest_start_ms;
    uint64_t limit_bytes;
};

struct build {
    const struct recording *recording;
    struct timeline *timeline;
    struct report_metrics metrics;
    struct seen *seen; /* as recording->subjects */
    bool second_pass;
    int64_t last_ms;      /* of the last tick in the span */
    struct seen **chosen; /* those which are shown, in their order */
    size_t chosen_count;
};

static struct seen *seen_of(const struct build *build, uint32_t id)
{
    const struct recording_subject *subject = recording_subject(build->recording, id);

    return subject == NULL ? NULL : &build->seen[subject - build->recording->subjects];
}

static void note(struct seen *seen, int64_t at_ms, int64_t total)
{
    if (seen->first_ms == 0) {
        seen->first_ms = at_ms;
        seen->first_total = total;
        seen->peak_total = total;
    }
    seen->last_ms = at_ms;
    seen->last_total = total;
    seen->peak_total = total > seen->peak_total ? total : seen->peak_total;
}

static double age_seconds(const struct seen *seen, const struct recording_tick *tick)
{
    const int64_t age_ms = tick->boot_ms - seen->oldest_start_ms;

    return age_ms > 0 ? (double)age_ms / MS_PER_SECOND : 0;
}

static void collect(const struct build *build, const struct recording_cursor *cursor,
    const struct recording_tick *tick, struct seen *seen)
{
    const uint32_t id = seen->subject->id;
    struct report_sample layers = report_empty_sample(tick->at_ms);
    const double capture = report_count(cursor, id, build->metrics.capture);

    if (tick->after_gap) {
        report_points_gap(seen->points);
        report_points_gap(seen->layers);
    }
    report_points_add(seen->points, &seen->sample, age_seconds(seen, tick),
        report_count(cursor, id, build->metrics.requests));
    if (capture >= 0 && capture != seen->capture &&
        report_layer_sample(cursor, &build->metrics, id, &layers)) {
        seen->capture = capture;
        report_points_add(seen->layers, &layers, 0, -1);
    }
}

static void take_process(struct build *build, const struct recording_cursor *cursor,
    const struct recording_tick *tick, struct seen *seen)
{
    struct seen *owner = seen_of(build, seen->subject->owner);
    const int64_t start_ms = seen->subject->start_ticks < INT64_MAX / MS_PER_START_TICK
                                 ? (int64_t)seen->subject->start_ticks * MS_PER_START_TICK
                                 : tick->boot_ms;

    seen->sample = report_empty_sample(tick->at_ms);
    if (!report_process_sample(
            cursor, &build->metrics, seen->subject->id, &seen->sample)) {
        return;
    }
    seen->oldest_start_ms = start_ms;
    if (owner != NULL && owner->subject->kind == RECORDING_TARGET) {
        if (!owner->sampled) {
            owner->sample = report_empty_sample(tick->at_ms);
            owner->oldest_start_ms = start_ms;
        }
        owner->sampled = true;
        owner->members_now++;
        owner->oldest_start_ms =
            start_ms < owner->oldest_start_ms ? start_ms : owner->oldest_start_ms;
        report_add_member(&owner->sample, &seen->sample);
    }
    if (!build->second_pass) {
        note(seen, tick->at_ms, seen->sample.total);
    } else if (seen->shown) {
        collect(build, cursor, tick, seen);
    }
}

static void take_target(struct build *build, const struct recording_cursor *cursor,
    const struct recording_tick *tick, struct seen *seen)
{
    if (!seen->sampled) {
        return;
    }
    if (seen->cgroup != 0) {
        const struct fact limit =
            recording_value(cursor, seen->cgroup, build->metrics.limit);
        report_add_cgroup(cursor, &build->metrics, seen->cgroup, &seen->sample);
        seen->limit_bytes = limit.state == FACT_OK ? limit.value : 0;
    }
    if (!build->second_pass) {
        note(seen, tick->at_ms, seen->sample.total);
        seen->members_most = seen->members_now > seen->members_most ? seen->members_now
                                                                    : seen->members_most;
    } else if (seen->shown) {
        collect(build, cursor, tick, seen);
    }
    seen->sampled = false;
    seen->members_now = 0;
}

static void take_tick(struct build *build, const struct recording_cursor *cursor,
    const struct recording_tick *tick)
{
    const struct recording *recording = build->recording;

    for (size_t i = 0; i < recording->subject_count; i++) {
        if (recording->subjects[i].kind == RECORDING_PROCESS &&
            recording_lives(cursor, recording->subjects[i].id)) {
            take_process(build, cursor, tick, &build->seen[i]);
        }
    }
    for (size_t i = 0; i < recording->subject_count; i++) {
        if (recording->subjects[i].kind == RECORDING_TARGET) {
            take_target(build, cursor, tick, &build->seen[i]);
        }
    }
}

static int pass(struct build *build, struct error *error)
{
    struct timeline *timeline = build->timeline;
    struct recording_cursor *cursor;
    struct recording_tick tick;
    int64_t before_ms = timeline->from_ms;
    int rc = recording_cursor_open(
        build->recording, timeline->from_ms, timeline->to_ms, &cursor, error);

    timeline->ticks = 0;
    while (rc == 0 && (rc = recording_next(cursor, &tick, error)) == 1) {
        rc = 0;
        take_tick(build, cursor, &tick);
        if (build->second_pass && tick.after_gap && timeline->ticks > 0) {
            rc = report_marks_gap(timeline, before_ms, tick.at_ms);
        }
        before_ms = tick.at_ms;
        build->last_ms = tick.at_ms;
        timeline->ticks++;
    }
    if (cursor != NULL) {
        timeline->damaged_ticks = recording_damaged_ticks(cursor);
    }
    recording_cursor_close(cursor);
    return rc;
}

/* The cgroup that bills a target, unless its members are in several. */
static void find_cgroups(struct build *build)
{
    const struct recording *recording = build->recording;

    for (size_t i = 0; i < recording->subject_count; i++) {
        struct seen *owner = seen_of(build, recording->subjects[i].owner);
        if (recording->subjects[i].kind == RECORDING_CGROUP && owner != NULL) {
            owner->cgroup = owner->cgroup == 0 ? recording->subjects[i].id : UINT32_MAX;
        }
    }
    for (size_t i = 0; i < recording->subject_count; i++) {
        if (build->seen[i].cgroup == UINT32_MAX) {
            build->seen[i].cgroup = 0;
        }
    }
}

static int compare_peaks(const void *left, const void *right)
{
    const struct seen *a = *(struct seen *const *)left;
    const struct seen *b = *(struct seen *const *)right;

    if (a->peak_total != b->peak_total) {
        return a->peak_total < b->peak_total ? 1 : -1;
    }
    return (a->subject->id > b->subject->id) - (a->subject->id < b->subject->id);
}

static int show(struct build *build, struct seen *seen)
{
    const struct timeline *timeline = build->timeline;
    struct region *region = &build->timeline->region;

    seen->points = region_alloc(region, sizeof(*seen->points));
    seen->layers = region_alloc(region, sizeof(*seen->layers));
    if (seen->points == NULL || seen->layers == NULL) {
        return -ENOMEM;
    }
    build->chosen[build->chosen_count++] = seen;
    seen->shown = true;
    seen->capture = -1;
    int rc = report_points_init(seen->points, region, timeline->from_ms, timeline->to_ms);
    return rc != 0 ? rc
                   : report_points_init(
                         seen->layers, region, timeline->from_ms, timeline->to_ms);
}

/* The processes that lived in the span, those with the highest peaks first. */
static size_t sort_members(const struct build *build, struct seen **members)
{
    const struct recording *recording = build->recording;
    size_t count = 0;

    for (size_t i = 0; i < recording->subject_count; i++) {
        if (recording->subjects[i].kind == RECORDING_PROCESS &&
            build->seen[i].first_ms != 0) {
            members[count++] = &build->seen[i];
        }
    }
    if (count > 1) {
        qsort(members, count, sizeof(struct seen *), compare_peaks);
    }
    return count < REPORT_MOST_MEMBERS ? count : REPORT_MOST_MEMBERS;
}

/* Targets, each followed by its members. */
static int choose(struct build *build)
{
    const size_t all = build->recording->subject_count;
    struct region *region = &build->timeline->region;
    struct seen **members = region_alloc(region, (all + 1) * sizeof(struct seen *));
    int rc = 0;

    build->chosen = region_alloc(region, (all + 1) * sizeof(struct seen *));
    if (members == NULL || build->chosen == NULL) {
        return -ENOMEM;
    }
    const size_t count = sort_members(build, members);
    for (size_t t = 0; rc == 0 && t < all; t++) {
        struct seen *target = &build->seen[t];
        if (target->subject->kind != RECORDING_TARGET || target->first_ms == 0) {
            continue;
        }
        rc = show(build, target);
        for (size_t i = 0; rc == 0 && i < count; i++) {
            if (members[i]->subject->owner == target->subject->id) {
                rc = show(build, members[i]);
            }
        }
    }
    return rc;
}

static uint64_t positive(int64_t value)
{
    return value < 0 ? 0 : (uint64_t)value;
}

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Of the means of buckets, so of equal pieces of time. */
static int64_t median_of(const struct report_points *points)
{
    double values[REPORT_BUCKETS];

    for (size_t i = 0; i < points->mean_count; i++) {
        values[i] = points->by_time[i].y;
    }
    if (points->mean_count == 0) {
        return 0;
    }
    qsort(values, points->mean_count, sizeof(*values), compare_doubles);
    return (int64_t)values[points->mean_count / 2];
}

static int judge(const struct seen *seen, struct course *course)
{
    struct region scratch;

    region_init(&scratch, TIMELINE_MAX_BYTES);
    course->span_seconds = positive(seen->last_ms - seen->first_ms) / MS_PER_SECOND;
    course->last_bytes = positive(seen->last_total);
    course->limit_bytes = seen->limit_bytes;
    int rc = growth_judge(seen->points->by_time, seen->points->mean_count,
        GROWTH_LEAST_SECONDS, &scratch, &course->by_time);
    if (rc == 0) {
        rc = growth_judge(seen->points->by_requests, seen->points->request_count,
            GROWTH_LEAST_REQUESTS, &scratch, &course->by_requests);
    }
    region_release(&scratch);
    return rc;
}

/* Of a target that was one process throughout, that one. */
static int32_t only_pid(const struct build *build, const struct recording_subject *target)
{
    const struct recording *recording = build->recording;
    int32_t pid = 0;
    size_t count = 0;

    for (size_t i = 0; i < recording->subject_count; i++) {
        if (recording->subjects[i].kind == RECORDING_PROCESS &&
            recording->subjects[i].owner == target->id && build->seen[i].first_ms != 0) {
            pid = recording->subjects[i].pid;
            count++;
        }
    }
    return count == 1 ? pid : 0;
}

/* A process follows its target, whose name it is asked for by. */
static const char *target_name(
    const struct build *build, const struct timeline_subject *shown)
{
    const struct timeline *timeline = build->timeline;

    for (size_t i = 0; i < timeline->subject_count; i++) {
        if (timeline->subjects[i].id == shown->owner) {
            return timeline->subjects[i].name;
        }
    }
    return shown->name;
}

/*
 * Somebody looked later and it was gone: at a tick of the same session, or at one of its target.
 * A session that asks for other targets says nothing of it.
 */
static bool has_ended(const struct build *build, const struct seen *seen)
{
    const struct recording *recording = build->recording;
    const struct seen *owner = seen_of(build, seen->subject->owner);
    int64_t asked_ms = build->last_ms;

    for (size_t i = 0; i < recording->session_count; i++) {
        const int64_t end_ms = recording->sessions[i].last_ms;
        if (end_ms >= seen->last_ms) {
            asked_ms = end_ms < asked_ms ? end_ms : asked_ms;
            break;
        }
    }
    if (owner != NULL && owner->last_ms > asked_ms) {
        asked_ms = owner->last_ms;
    }
    return seen->subject->ended && seen->last_ms < asked_ms;
}

static int fill(struct build *build, struct seen *seen, struct timeline_subject *shown)
{
    struct region *region = &build->timeline->region;
    const struct recording_subject *subject = seen->subject;

    *shown = (struct timeline_subject){.id = subject->id,
        .owner = subject->kind == RECORDING_TARGET ? 0 : subject->owner,
        .pid = subject->pid,
        .name = region_copy_text(region, subject->name),
        .title = region_copy_text(region, subject->title),
        .first_ms = seen->first_ms,
        .last_ms = seen->last_ms,
        .ended = has_ended(build, seen),
        .members_most = seen->members_most,
        .first_bytes = positive(seen->first_total),
        .peak_bytes = positive(seen->peak_total),
        .last_bytes = positive(seen->last_total)};
    if (shown->name == NULL || shown->title == NULL) {
        return -ENOMEM;
    }
    report_points_end(seen->points);
    report_points_end(seen->layers);
    shown->median_bytes = positive(median_of(seen->points));
    shown->course.name =
        shown->pid == 0 ? shown->name
                        : region_printf(region, "%s (pid %d)", shown->name, shown->pid);
    if (shown->course.name == NULL) {
        return -ENOMEM;
    }
    shown->course.pid = shown->owner == 0 ? only_pid(build, subject) : shown->pid;
    shown->course.subject = shown->id;
    shown->course.file = build->timeline->file;
    shown->course.target = target_name(build, shown);
    shown->course.first_ms = shown->first_ms;
    shown->course.last_ms = shown->last_ms;
    shown->plots[0].id = "kernel";
    shown->plots[0].title =
        shown->owner == 0 ? "Resident memory, sum over the members" : "Resident memory";
    shown->plots[1].id = "layers";
    shown->plots[1].title = "Layers, at each capture";
    int rc = judge(seen, &shown->course);
    if (rc == 0) {
        rc = report_points_plot(
            seen->points, region, report_kernel_series, REPORT_SERIES, &shown->plots[0]);
    }
    return rc != 0 ? rc
                   : report_points_plot(seen->layers, region, report_layer_series,
                         REPORT_SERIES, &shown->plots[1]);
}

static int fill_all(struct build *build)
{
    struct timeline *timeline = build->timeline;
    int rc = 0;

    timeline->subjects = region_alloc(
        &timeline->region, (build->chosen_count + 1) * sizeof(*timeline->subjects));
    if (timeline->subjects == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < build->chosen_count; i++) {
        rc = fill(build, build->chosen[i], &timeline->subjects[i]);
        timeline->subject_count++;
    }
    return rc;
}

static int describe(
    const struct recording *recording, const char *file, struct timeline *timeline)
{
    struct region *region = &timeline->region;
    const struct recording_session *last =
        &recording->sessions[recording->session_count - 1];

    timeline->file = region_copy_text(region, file);
    timeline->host = region_copy_text(region, last->host);
    timeline->version = region_copy_text(region, last->version);
    timeline->every_ms = last->every_ms;
    for (size_t i = 0; i < recording->session_count; i++) {
        const struct recording_session *session = &recording->sessions[i];
        timeline->ticks_lost = number_add(timeline->ticks_lost, session->ticks_lost);
        if (session->cpu_us > 0) {
            timeline->cpu_us = number_add(timeline->cpu_us, session->cpu_us);
            timeline->recorded_ms = number_add(
                timeline->recorded_ms, positive(session->last_ms - session->first_ms));
        }
    }
    for (size_t i = 0; i < recording->capture_count; i++) {
        timeline->captures += recording->captures[i].at_ms >= timeline->from_ms &&
                              recording->captures[i].at_ms <= timeline->to_ms;
    }
    return timeline->file == NULL || timeline->host == NULL || timeline->version == NULL
               ? -ENOMEM
               : 0;
}

static int run(struct build *build, const char *file, struct error *error)
{
    const struct recording *recording = build->recording;
    struct timeline *timeline = build->timeline;

    build->seen = region_alloc(
        &timeline->region, (recording->subject_count + 1) * sizeof(*build->seen));
    if (build->seen == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < recording->subject_count; i++) {
        build->seen[i].subject = &recording->subjects[i];
    }
    find_cgroups(build);
    int rc = describe(recording, file, timeline);
    if (rc == 0) {
        rc = pass(build, error);
    }
    if (rc == 0 && timeline->ticks == 0) {
        rc = error_set(error, -ENODATA, "'%s' has no figures in that span", file);
    }
    if (rc == 0) {
        rc = choose(build);
    }
    if (rc == 0) {
        build->second_pass = true;
        rc = pass(build, error);
    }
    if (rc == 0) {
        rc = fill_all(build);
    }
    return rc == 0 ? report_marks_add(recording, timeline) : rc;
}

int report_build(const struct recording *recording, const char *file, int64_t from_ms,
    int64_t to_ms, struct timeline *timeline, struct error *error)
{
    struct build build = {.recording = recording,
        .timeline = timeline,
        .metrics = report_metrics_of(recording)};

    *timeline = (struct timeline){.from_ms = from_ms, .to_ms = to_ms};
    region_init(&timeline->region, TIMELINE_MAX_BYTES);
    int rc = run(&build, file, error);
    if (rc != 0) {
        region_release(&timeline->region);
        return error_set(
            error, rc, "cannot read recording '%s': %s", file, strerror(-rc));
    }
    return 0;
}
