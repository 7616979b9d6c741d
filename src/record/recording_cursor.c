/*
 * recording_cursor.c - any span of time out of a recording.
 *
 * A cursor starts at the last keyframe before the time that was asked for and applies ticks
 * from there, so that any moment costs at most one interval of keyframes. A tick that cannot
 * be decoded makes all up to the next keyframe unusable, since they are differences.
 */
#include "record/recording_cursor.h"

#include <errno.h>
#include <stdlib.h>

#include "record/database.h"
#include "record/recording_file.h"
#include "record/recording_list.h"
#include "record/tick_code.h"

/* A pause: so many times the interval between ticks. */
enum { GAP_INTERVALS = 3 };

struct recording_cursor {
    const struct recording *recording;
    sqlite3_stmt *ticks;
    struct tick_table table;
    int64_t from_ms;
    int64_t to_ms;
    int64_t before_ms; /* time of the tick before; INT64_MIN: none */
    int64_t session;
    bool whole; /* table holds what the ticks up to here say */
    size_t damaged;
};

static int64_t first_tick(const struct recording *recording, int64_t from_ms)
{
    const struct recording_file *file = recording->file;
    int64_t tick = INT64_MIN;

    for (size_t i = 0; i < file->keyframe_count; i++) {
        if (file->keyframes[i].at_ms <= from_ms) {
            tick = file->keyframes[i].tick;
        }
    }
    return tick;
}

int recording_cursor_open(const struct recording *recording, int64_t from_ms,
    int64_t to_ms, struct recording_cursor **cursor, struct error *error)
{
    struct recording_cursor *made = calloc(1, sizeof(*made));
    int rc = -ENOMEM;

    *cursor = NULL;
    if (made != NULL) {
        *made = (struct recording_cursor){.recording = recording,
            .from_ms = from_ms,
            .to_ms = to_ms,
            .before_ms = INT64_MIN,
            .session = -1};
        rc = tick_table_init(&made->table, (size_t)recording->file->last_subject + 1,
            recording->metric_count);
    }
    if (rc != 0) {
        free(made);
        return error_set(error, rc, "cannot read recording '%s': out of memory",
            recording->file->path);
    }
    made->ticks = database_prepare(recording->file->database,
        "SELECT session, boot_ms, keyframe, data FROM ticks WHERE id>=?1 ORDER BY id",
        error);
    if (made->ticks == NULL) {
        recording_cursor_close(made);
        return -EINVAL;
    }
    (void)sqlite3_bind_int64(made->ticks, 1, first_tick(recording, from_ms));
    *cursor = made;
    return 0;
}

void recording_cursor_close(struct recording_cursor *cursor)
{
    if (cursor != NULL) {
        (void)sqlite3_finalize(cursor->ticks);
        tick_table_release(&cursor->table);
        free(cursor);
    }
}

/* Applies the row where the statement stands. 0 or -ENOMEM. */
static int apply_row(struct recording_cursor *cursor)
{
    const int bytes = sqlite3_column_bytes(cursor->ticks, 3);
    const void *data = sqlite3_column_blob(cursor->ticks, 3);

    if (sqlite3_column_int64(cursor->ticks, 2) == 1) {
        tick_table_reset(&cursor->table);
        cursor->whole = true;
    }
    if (cursor->whole) {
        int rc = tick_decode(data, bytes < 0 ? 0 : (size_t)bytes, &cursor->table);
        if (rc == -ENOMEM) {
            return rc;
        }
        cursor->whole = rc == 0;
    }
    cursor->damaged += !cursor->whole;
    return 0;
}

static bool is_gap(const struct recording_cursor *cursor, int64_t session, int64_t at_ms)
{
    const struct recording *recording = cursor->recording;
    uint64_t every_ms = 0;

    if (cursor->before_ms == INT64_MIN || session != cursor->session) {
        return true;
    }
    for (size_t i = 0; i < recording->session_count; i++) {
        if (recording->file->clocks[i].id == session) {
            every_ms = recording->sessions[i].every_ms;
        }
    }
    return (uint64_t)(at_ms - cursor->before_ms) / GAP_INTERVALS > every_ms;
}

int recording_next(
    struct recording_cursor *cursor, struct recording_tick *tick, struct error *error)
{
    int code;

    while ((code = sqlite3_step(cursor->ticks)) == SQLITE_ROW) {
        const int64_t session = sqlite3_column_int64(cursor->ticks, 0);
        const int64_t boot_ms = sqlite3_column_int64(cursor->ticks, 1);
        int64_t at_ms;
        if (apply_row(cursor) != 0) {
            return error_set(error, -ENOMEM, "cannot read recording '%s': out of memory",
                cursor->recording->file->path);
        }
        if (!recording_time(cursor->recording, session, boot_ms, &at_ms) ||
            !cursor->whole || at_ms < cursor->from_ms) {
            continue;
        }
        if (at_ms > cursor->to_ms) {
            return 0;
        }
        *tick = (struct recording_tick){at_ms, boot_ms, is_gap(cursor, session, at_ms)};
        cursor->before_ms = at_ms;
        cursor->session = session;
        return 1;
    }
    if (code != SQLITE_DONE) {
        struct error why = {0};
        int rc = database_error(
            cursor->recording->file->database, "read the next figures", &why);
        return error_set(error, rc, "cannot read recording '%s': %s",
            cursor->recording->file->path, why.text);
    }
    return 0;
}

bool recording_lives(const struct recording_cursor *cursor, uint32_t subject_id)
{
    return subject_id < cursor->table.subject_count &&
           cursor->table.rows[subject_id] != NULL;
}

struct fact recording_value(
    const struct recording_cursor *cursor, uint32_t subject_id, int metric)
{
    if (metric < 0 || (size_t)metric >= cursor->table.metric_count ||
        !recording_lives(cursor, subject_id)) {
        return (struct fact){.state = FACT_ABSENT};
    }
    const struct tick_cell *cell = &cursor->table.rows[subject_id][metric];
    return (struct fact){.value = cell->value, .state = (enum fact_state)cell->state};
}

size_t recording_damaged_ticks(const struct recording_cursor *cursor)
{
    return cursor->damaged;
}
