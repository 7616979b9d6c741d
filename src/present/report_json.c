/*
 * report_json.c - timelines as JSON, for the page and for machines.
 *
 * The page gets differences: neighbours are alike, so a day of a hundred processes stays a few
 * megabytes without any compression that a browser would have to be taught.
 */
#include "present/report_json.h"

#include "present/json_parts.h"
#include "present/since_json.h"

enum { REPORT_SCHEMA = 1, KIB = 1024 };

static const char *const role_names[] = {
    [TIMELINE_STACK] = "stack", [TIMELINE_LINE] = "line", [TIMELINE_LIMIT] = "limit"};

static void write_numbers(struct json_writer *json, const int64_t *values, size_t count,
    int64_t unit, bool exact)
{
    int64_t before = 0;

    json_array_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (values[i] == TIMELINE_MISSING) {
            json_nothing(json);
            continue;
        }
        const int64_t now = exact ? values[i] : values[i] / unit;
        json_signed(json, exact ? now : now - before);
        before = now;
    }
    json_array_end(json);
}

static void write_plot(
    struct json_writer *json, const struct timeline_plot *plot, bool exact)
{
    json_object_begin(json);
    json_text(json, "id", plot->id);
    json_text(json, "title", plot->title);
    json_key(json, "times");
    write_numbers(json, plot->times_ms, plot->count, 1, exact);
    json_key(json, "series");
    json_array_begin(json);
    for (size_t i = 0; i < plot->series_count; i++) {
        const struct timeline_series *series = &plot->series[i];
        json_object_begin(json);
        json_text(json, "id", series->id);
        json_text(json, "title", series->title);
        json_text(json, "role", role_names[series->role]);
        json_key(json, "values");
        write_numbers(json, series->values, plot->count, KIB, exact);
        json_object_end(json);
    }
    json_array_end(json);
    json_object_end(json);
}

/* Slopes in bytes for a round number of units, as integers. */
static void write_growth(struct json_writer *json, const char *key,
    const struct growth *growth, const char *pace, double units)
{
    const double slope = growth->slope * units;

    json_key(json, key);
    if (growth->points == 0) {
        json_nothing(json);
        return;
    }
    json_object_begin(json);
    json_text(json, "verdict", growth_verdict_names[growth->verdict]);
    json_count(
        json, "span", growth->span > 9e15 ? (uint64_t)9e15 : (uint64_t)growth->span);
    json_signed_count(json, pace,
        slope > 9e15    ? (int64_t)9e15
        : slope < -9e15 ? (int64_t)-9e15
                        : (int64_t)slope);
    json_object_end(json);
}

static void write_subject(
    struct json_writer *json, const struct timeline_subject *subject, bool exact)
{
    json_object_begin(json);
    json_count(json, "id", subject->id);
    json_count(json, "owner", subject->owner);
    json_signed_count(json, "pid", subject->pid);
    json_text(json, "name", subject->name);
    json_text(json, "title", subject->title);
    json_signed_count(json, "first_ms", subject->first_ms);
    json_signed_count(json, "last_ms", subject->last_ms);
    json_flag(json, "ended", subject->ended);
    json_count(json, "members_most", subject->members_most);
    json_count(json, "first", subject->first_bytes);
    json_count(json, "peak", subject->peak_bytes);
    json_count(json, "median", subject->median_bytes);
    json_count(json, "last", subject->last_bytes);
    json_count(json, "limit", subject->course.limit_bytes);
    write_growth(json, "by_time", &subject->course.by_time, "per_hour", 3600);
    write_growth(json, "by_requests", &subject->course.by_requests, "per_thousand", 1000);
    json_key(json, "plots");
    json_array_begin(json);
    for (int i = 0; i < TIMELINE_PLOTS; i++) {
        if (subject->plots[i].count > 0) {
            write_plot(json, &subject->plots[i], exact);
        }
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_marks(struct json_writer *json, const struct timeline *timeline)
{
    json_key(json, "marks");
    json_array_begin(json);
    for (size_t i = 0; i < timeline->mark_count; i++) {
        const struct timeline_mark *mark = &timeline->marks[i];
        json_object_begin(json);
        json_signed_count(json, "at_ms", mark->at_ms);
        json_count(json, "subject", mark->subject);
        json_text(json, "kind", mark->kind);
        json_text(json, "severity", mark->severity);
        json_text(json, "text", mark->text);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_rule_texts(struct json_writer *json, const char *id)
{
    const struct rule *rule = rule_find(id);

    json_text(json, "rule", id);
    json_text(json, "title", rule != NULL ? rule->title : "");
    json_text(json, "help", rule != NULL ? rule->fix : "");
}

static void write_predicted(
    struct json_writer *json, bool predicts, uint64_t low_bytes, uint64_t high_bytes)
{
    if (predicts) {
        json_key(json, "predicted");
        json_object_begin(json);
        json_count(json, "low", low_bytes);
        json_count(json, "high", high_bytes);
        json_object_end(json);
    }
}

static void write_course_findings(
    struct json_writer *json, const struct report_part *part)
{
    const struct finding_list *list = part->courses;

    for (size_t i = 0; i < list->count; i++) {
        const struct finding *finding = &list->items[i];
        json_object_begin(json);
        write_rule_texts(json, finding->rule->id);
        json_text(json, "severity", severity_names[finding->severity]);
        json_count(json, "subject", finding->subject);
        json_signed_count(json, "pid", finding->pid);
        json_text(json, "summary", finding->summary);
        json_text(
            json, "reasoning", finding->reasoning != NULL ? finding->reasoning : "");
        json_text(json, "fix", finding->fix);
        write_predicted(json, finding->predicts, finding->predicted_low_bytes,
            finding->predicted_high_bytes);
        json_signed_count(json, "first_ms", part->timeline->from_ms);
        json_signed_count(json, "last_ms", part->timeline->to_ms);
        json_count(json, "count", 0);
        json_object_end(json);
    }
}

static void write_findings(struct json_writer *json, const struct report_part *part)
{
    const struct timeline *timeline = part->timeline;

    json_key(json, "findings");
    json_array_begin(json);
    write_course_findings(json, part);
    for (size_t i = 0; i < timeline->finding_count; i++) {
        const struct timeline_finding *finding = &timeline->findings[i];
        json_object_begin(json);
        write_rule_texts(json, finding->rule);
        json_text(json, "severity", finding->severity);
        json_count(json, "subject", finding->subject);
        json_signed_count(json, "pid", finding->pid);
        json_text(json, "summary", finding->summary);
        write_predicted(json, finding->predicts, finding->low_bytes, finding->high_bytes);
        json_signed_count(json, "first_ms", finding->first_ms);
        json_signed_count(json, "last_ms", finding->last_ms);
        json_count(json, "count", finding->count);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_part(
    struct json_writer *json, const struct report_part *part, bool exact, bool targets)
{
    const struct timeline *timeline = part->timeline;

    json_object_begin(json);
    json_text(json, "file", timeline->file);
    json_text(json, "host", timeline->host);
    json_text(json, "version", timeline->version);
    json_signed_count(json, "from_ms", timeline->from_ms);
    json_signed_count(json, "to_ms", timeline->to_ms);
    json_count(json, "every_ms", timeline->every_ms);
    json_count(json, "ticks", timeline->ticks);
    json_count(json, "captures", timeline->captures);
    json_count(json, "ticks_lost", timeline->ticks_lost);
    json_count(json, "damaged_ticks", timeline->damaged_ticks);
    json_count(json, "cpu_us", timeline->cpu_us);
    json_count(json, "recorded_ms", timeline->recorded_ms);
    json_key(json, "subjects");
    json_array_begin(json);
    for (size_t i = 0; i < timeline->subject_count; i++) {
        if (!targets || timeline->subjects[i].owner == 0) {
            write_subject(json, &timeline->subjects[i], exact);
        }
    }
    json_array_end(json);
    write_marks(json, timeline);
    write_findings(json, part);
    json_object_end(json);
}

static void write_changes(struct json_writer *json, const struct report_before *before)
{
    json_key(json, "since");
    json_array_begin(json);
    for (size_t i = 0; before != NULL && i < before->change_count; i++) {
        json_object_begin(json);
        json_count(json, "subject", before->changes[i].subject);
        json_key(json, "since");
        since_json(json, before->changes[i].since);
        json_object_end(json);
    }
    json_array_end(json);
}

void report_json_write(struct json_writer *json, const struct report_part *part,
    const struct report_before *before, bool exact)
{
    json_object_begin(json);
    json_count(json, "schema", REPORT_SCHEMA);
    json_key(json, "recording");
    write_part(json, part, exact, false);
    json_key(json, "before");
    if (before != NULL) {
        write_part(json, &before->part, exact, true);
    } else {
        json_nothing(json);
    }
    write_changes(json, before);
    json_object_end(json);
}

void present_report_json(const struct report_part *part,
    const struct report_before *before, struct buffer *buffer)
{
    struct json_writer json;

    json_writer_init(&json, buffer, 1);
    report_json_write(&json, part, before, true);
    buffer_append_char(buffer, '\n');
}
