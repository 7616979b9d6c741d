/*
 * recording_list.c - everything in a recording but ticks and the text of captures.
 *
 * Clocks: sessions of one boot share the offset between the wall and CLOCK_BOOTTIME that the
 * last tick of that boot had. A later boot starts no earlier than the one before ended.
 * Lists are read row by row into a region with a bound; a row that names a session which
 * is not there is left out.
 */
#include "record/recording_list.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/database.h"
#include "record/recording_file.h"
#include "record/tick_code.h"

/* Adds one row to its list: 0, or -ENOMEM or -EINVAL. */
typedef int row_reader(struct recording *recording, sqlite3_stmt *row);

static int read_rows(struct recording *recording, const char *sql, row_reader *read_row,
    struct error *error)
{
    sqlite3 *database = recording->file->database;
    sqlite3_stmt *rows = database_prepare(database, sql, error);
    int rc = 0;
    int code;

    if (rows == NULL) {
        return -EINVAL;
    }
    while (rc == 0 && (code = sqlite3_step(rows)) == SQLITE_ROW) {
        rc = read_row(recording, rows);
    }
    if (rc != 0) {
        (void)error_set(error, rc, "%s",
            rc == -ENOMEM ? "its lists are longer than memory allows" : "it is damaged");
    } else if (code != SQLITE_DONE) {
        rc = database_error(database, "read the tables", error);
    }
    (void)sqlite3_finalize(rows);
    return rc;
}

static int32_t small(sqlite3_stmt *row, int column)
{
    const int64_t value = sqlite3_column_int64(row, column);

    return value < 0 || value > INT32_MAX ? 0 : (int32_t)value;
}

/* What goes into sums of times: far outside of any clock, and far from wrapping. */
static int64_t time_of(sqlite3_stmt *row, int column)
{
    const int64_t most = INT64_C(1) << 55;
    const int64_t value = sqlite3_column_int64(row, column);

    return value > most ? most : value < -most ? -most : value;
}

static uint64_t unsigned_of(sqlite3_stmt *row, int column)
{
    const int64_t value = sqlite3_column_int64(row, column);

    return value < 0 ? 0 : (uint64_t)value;
}

/* id, wall_ms, boot_ms, every_ms, host, version, ended, lost, cpu, last tick's both, offset */
static int read_session(struct recording *recording, sqlite3_stmt *row)
{
    struct region *region = &recording->region;
    struct recording_file *file = recording->file;
    const size_t count = recording->session_count;
    struct recording_session *session = region_grow(
        region, &recording->sessions, count, RECORDING_MAX_SESSIONS, sizeof(*session));
    struct recording_clock *clock =
        region_grow(region, &file->clocks, count, RECORDING_MAX_SESSIONS, sizeof(*clock));

    if (session == NULL || clock == NULL) {
        return -ENOMEM;
    }
    clock->id = sqlite3_column_int64(row, 0);
    clock->offset_ms = time_of(row, 9);
    const int64_t earliest = count > 0 ? session[-1].last_ms : INT64_MIN;
    if (time_of(row, 2) + clock->offset_ms < earliest) {
        clock->offset_ms = earliest - time_of(row, 2);
    }
    session->first_ms = time_of(row, 2) + clock->offset_ms;
    session->last_ms = sqlite3_column_type(row, 8) == SQLITE_NULL
                           ? session->first_ms
                           : time_of(row, 8) + clock->offset_ms;
    session->every_ms = unsigned_of(row, 3);
    session->host = database_text(row, 4, region);
    session->version = database_text(row, 5, region);
    session->ended = sqlite3_column_type(row, 6) != SQLITE_NULL;
    session->ticks_lost = unsigned_of(row, 7);
    session->cpu_us = unsigned_of(row, 10);
    recording->session_count++;
    return session->host == NULL || session->version == NULL ? -ENOMEM : 0;
}

static const char sessions_sql[] =
    "WITH last AS (SELECT session, max(id) AS id FROM ticks GROUP BY session),"
    " ends AS (SELECT s.id, s.boot_id, t.wall_ms, t.boot_ms FROM sessions s"
    "  LEFT JOIN last ON last.session=s.id LEFT JOIN ticks t ON t.id=last.id)"
    "SELECT s.id, s.wall_ms, s.boot_ms, s.every_ms, s.host, s.version, s.ended_boot_ms,"
    " s.ticks_lost, e.boot_ms,"
    " coalesce((SELECT o.wall_ms-o.boot_ms FROM ends o WHERE o.boot_id=s.boot_id AND"
    "  o.boot_ms IS NOT NULL ORDER BY o.id DESC LIMIT 1), s.wall_ms-s.boot_ms), s.cpu_us"
    " FROM sessions s JOIN ends e ON e.id=s.id ORDER BY s.id";

bool recording_time(
    const struct recording *recording, int64_t session, int64_t boot_ms, int64_t *at_ms)
{
    const struct recording_clock *clocks = recording->file->clocks;
    size_t low = 0;
    size_t high = recording->session_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (clocks[middle].id < session) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    if (low == recording->session_count || clocks[low].id != session) {
        return false;
    }
    const int64_t most = INT64_C(1) << 55;
    const int64_t boot = boot_ms > most ? most : boot_ms < -most ? -most : boot_ms;
    *at_ms = boot + clocks[low].offset_ms;
    return true;
}

/* Time of a row whose columns first and second are session and boot_ms. */
static bool row_time(const struct recording *recording, sqlite3_stmt *row, int64_t *at_ms)
{
    return recording_time(
        recording, sqlite3_column_int64(row, 0), sqlite3_column_int64(row, 1), at_ms);
}

static int read_metric(struct recording *recording, sqlite3_stmt *row)
{
    struct region *region = &recording->region;
    struct recording_metric *metric = region_grow(region, &recording->metrics,
        recording->metric_count, TICK_MAX_METRICS, sizeof(*metric));

    if (metric == NULL) {
        return -ENOMEM;
    }
    /* Ticks name metrics by their place. */
    if (sqlite3_column_int64(row, 0) != (int64_t)recording->metric_count) {
        return -EINVAL;
    }
    metric->name = database_text(row, 1, region);
    metric->unit = database_text(row, 2, region);
    recording->metric_count++;
    return metric->name == NULL || metric->unit == NULL ? -ENOMEM : 0;
}

static uint32_t kind_of(const char *name)
{
    for (uint32_t kind = 0; name != NULL && kind < RECORDING_KIND_COUNT; kind++) {
        if (strcmp(name, recording_kind_names[kind]) == 0) {
            return kind;
        }
    }
    return RECORDING_KIND_COUNT;
}

static int read_subject(struct recording *recording, sqlite3_stmt *row)
{
    struct region *region = &recording->region;
    const int64_t id = sqlite3_column_int64(row, 0);
    const uint32_t kind = kind_of((const char *)sqlite3_column_text(row, 1));

    if (id < 1 || id >= TICK_MAX_SUBJECTS) {
        return -EINVAL;
    }
    if (kind == RECORDING_KIND_COUNT) {
        return 0; /* of a newer strata */
    }
    struct recording_subject *subject = region_grow(region, &recording->subjects,
        recording->subject_count, TICK_MAX_SUBJECTS, sizeof(*subject));
    if (subject == NULL) {
        return -ENOMEM;
    }
    subject->id = (uint32_t)id;
    subject->kind = kind;
    subject->owner = (uint32_t)small(row, 2);
    subject->pid = small(row, 3);
    subject->start_ticks = unsigned_of(row, 4);
    subject->name = database_text(row, 5, region);
    subject->title = database_text(row, 6, region);
    subject->ended = sqlite3_column_type(row, 7) != SQLITE_NULL;
    recording->subject_count++;
    recording->file->last_subject = subject->id;
    return subject->name == NULL || subject->title == NULL ? -ENOMEM : 0;
}

static int read_capture(struct recording *recording, sqlite3_stmt *row)
{
    struct recording_capture *capture;
    int64_t at_ms;

    if (!row_time(recording, row, &at_ms)) {
        return 0;
    }
    capture = region_grow(&recording->region, &recording->captures,
        recording->capture_count, RECORDING_MAX_EVENTS, sizeof(*capture));
    if (capture == NULL) {
        return -ENOMEM;
    }
    capture->at_ms = at_ms;
    capture->id = sqlite3_column_int64(row, 2);
    capture->subject = (uint32_t)small(row, 3);
    capture->plain_bytes = unsigned_of(row, 4);
    capture->stored_bytes = unsigned_of(row, 5);
    recording->capture_count++;
    return 0;
}

static int read_finding(struct recording *recording, sqlite3_stmt *row)
{
    struct region *region = &recording->region;
    struct recording_finding *finding;
    int64_t at_ms;

    if (!row_time(recording, row, &at_ms)) {
        return 0;
    }
    finding = region_grow(region, &recording->findings, recording->finding_count,
        RECORDING_MAX_EVENTS, sizeof(*finding));
    if (finding == NULL) {
        return -ENOMEM;
    }
    finding->at_ms = at_ms;
    finding->subject = (uint32_t)small(row, 2);
    finding->rule = database_text(row, 3, region);
    finding->severity = database_text(row, 4, region);
    finding->pid = small(row, 5);
    finding->summary = database_text(row, 6, region);
    finding->predicts = sqlite3_column_type(row, 7) != SQLITE_NULL;
    finding->low_bytes = unsigned_of(row, 7);
    finding->high_bytes = unsigned_of(row, 8);
    recording->finding_count++;
    return finding->rule == NULL || finding->severity == NULL || finding->summary == NULL
               ? -ENOMEM
               : 0;
}

static int read_event(struct recording *recording, sqlite3_stmt *row)
{
    struct region *region = &recording->region;
    struct recording_event *event;
    int64_t at_ms;

    if (!row_time(recording, row, &at_ms)) {
        return 0;
    }
    event = region_grow(region, &recording->events, recording->event_count,
        RECORDING_MAX_EVENTS, sizeof(*event));
    if (event == NULL) {
        return -ENOMEM;
    }
    event->at_ms = at_ms;
    event->subject = (uint32_t)small(row, 2);
    event->kind = database_text(row, 3, region);
    event->text = database_text(row, 4, region);
    recording->event_count++;
    return event->kind == NULL || event->text == NULL ? -ENOMEM : 0;
}

static int read_keyframe(struct recording *recording, sqlite3_stmt *row)
{
    struct recording_file *file = recording->file;
    struct recording_keyframe *keyframe;
    int64_t at_ms;

    if (!row_time(recording, row, &at_ms)) {
        return 0;
    }
    keyframe = region_grow(&recording->region, &file->keyframes, file->keyframe_count,
        RECORDING_MAX_EVENTS, sizeof(*keyframe));
    if (keyframe == NULL) {
        return -ENOMEM;
    }
    keyframe->tick = sqlite3_column_int64(row, 2);
    keyframe->at_ms = at_ms;
    file->keyframe_count++;
    return 0;
}

static int read_end(struct recording *recording, sqlite3_stmt *row)
{
    int64_t at_ms;

    if (row_time(recording, row, &at_ms)) {
        recording->last_ms = at_ms;
    }
    recording->tick_count = unsigned_of(row, 2);
    return 0;
}

int recording_lists_read(struct recording *recording, struct error *error)
{
    const struct {
        const char *sql;
        row_reader *read_row;
    } lists[] = {
        {sessions_sql, read_session},
        {"SELECT id, name, unit FROM metrics ORDER BY id", read_metric},
        {"SELECT id, kind, owner, pid, start_ticks, name, title, last_tick FROM subjects"
         " ORDER BY id",
            read_subject},
        {"SELECT session, boot_ms, id, subject, plain_bytes, length(data) FROM captures"
         " ORDER BY id",
            read_capture},
        {"SELECT session, boot_ms, subject, rule, severity, pid, summary, low_bytes,"
         " high_bytes FROM findings ORDER BY id",
            read_finding},
        {"SELECT session, boot_ms, subject, kind, text FROM events ORDER BY id",
            read_event},
        {"SELECT session, boot_ms, id FROM ticks WHERE keyframe=1 ORDER BY id",
            read_keyframe},
        {"SELECT session, boot_ms, (SELECT count(*) FROM ticks) FROM ticks"
         " ORDER BY id DESC LIMIT 1",
            read_end},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(lists) / sizeof(lists[0]); i++) {
        rc = read_rows(recording, lists[i].sql, lists[i].read_row, error);
    }
    if (rc == 0 && recording->file->keyframe_count > 0) {
        recording->first_ms = recording->file->keyframes[0].at_ms;
    }
    return rc;
}
