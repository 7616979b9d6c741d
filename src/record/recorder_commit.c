/*
 * recorder_commit.c - everything since the last tick, in one transaction.
 *
 * With the write-ahead log and synchronous=NORMAL a committed tick survives the end of
 * this process by any signal; a loss of power may take the last ticks, never the file.
 */
#include "record/recorder_commit.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record/database.h"
#include "record/recorder_state.h"

static const char doing[] = "store a tick";

static int step(
    struct recorder *recorder, enum recorder_statement which, struct error *error)
{
    return database_step(recorder->statements[which], doing, error);
}

static void bind_text(sqlite3_stmt *statement, int place, const char *text)
{
    (void)sqlite3_bind_text(statement, place, text, -1, SQLITE_STATIC);
}

/* Session and both clocks, as the first three columns of all that happens at a time. */
static void bind_moment(
    const struct recorder *recorder, sqlite3_stmt *statement, const struct moment *now)
{
    (void)sqlite3_bind_int64(statement, 1, recorder->session);
    (void)sqlite3_bind_int64(statement, 2, now->wall_ms);
    (void)sqlite3_bind_int64(statement, 3, now->boot_ms);
}

static int insert_subject(struct recorder *recorder,
    const struct recorder_subject *subject, struct error *error)
{
    sqlite3_stmt *insert = recorder->statements[INSERT_SUBJECT];
    const struct recording_subject *key = &subject->key;

    (void)sqlite3_bind_int64(insert, 1, key->id);
    bind_text(insert, 2, recording_kind_names[key->kind]);
    (void)sqlite3_bind_int64(insert, 3, key->owner);
    bind_text(insert, 4, key->kind == RECORDING_PROCESS ? recorder->started.boot_id : "");
    (void)sqlite3_bind_int(insert, 5, key->pid);
    (void)sqlite3_bind_int64(insert, 6, (int64_t)key->start_ticks);
    bind_text(insert, 7, key->name);
    bind_text(insert, 8, key->title);
    return step(recorder, INSERT_SUBJECT, error);
}

static int store_subject(struct recorder *recorder,
    const struct recorder_subject *subject, int64_t tick, struct error *error)
{
    sqlite3_stmt **statements = recorder->statements;
    int rc = 0;

    if (!subject->known) {
        rc = insert_subject(recorder, subject, error);
    } else if (subject->revived) {
        (void)sqlite3_bind_int64(statements[REVIVE_SUBJECT], 1, subject->key.id);
        rc = step(recorder, REVIVE_SUBJECT, error);
    }
    if (rc == 0 && subject->renamed) {
        (void)sqlite3_bind_int64(statements[RENAME_SUBJECT], 1, subject->key.id);
        bind_text(statements[RENAME_SUBJECT], 2, subject->key.name);
        rc = step(recorder, RENAME_SUBJECT, error);
    }
    if (rc == 0 && subject->current == NULL) {
        (void)sqlite3_bind_int64(statements[END_SUBJECT], 1, subject->key.id);
        (void)sqlite3_bind_int64(statements[END_SUBJECT], 2, tick);
        rc = step(recorder, END_SUBJECT, error);
    }
    return rc;
}

static int store_subjects(struct recorder *recorder, int64_t tick, struct error *error)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < recorder->subject_count; i++) {
        rc = store_subject(recorder, recorder->subjects[i], tick, error);
    }
    return rc;
}

/* The tick's bytes, and room for every subject to be settled. */
static int encode(struct recorder *recorder, bool keyframe, struct buffer *data)
{
    const size_t bytes = recorder->metric_count * sizeof(struct tick_cell);
    uint32_t last = 0;

    for (size_t i = 0; i < recorder->subject_count; i++) {
        struct recorder_subject *subject = recorder->subjects[i];
        const uint32_t id = subject->key.id;
        const struct tick_cell *before = keyframe ? NULL : subject->stored;
        if (subject->current == NULL) {
            if (before != NULL) {
                tick_encode_end(data, id - last);
                last = id;
            }
            continue;
        }
        if (before == NULL || memcmp(before, subject->current, bytes) != 0) {
            tick_encode_row(
                data, id - last, before, subject->current, recorder->metric_count);
            last = id;
        }
    }
    return data->length_bytes > TICK_MAX_BYTES ? -EFBIG : buffer_error(data);
}

static int make_room(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->subject_count; i++) {
        struct recorder_subject *subject = recorder->subjects[i];
        if (subject->stored == NULL && subject->current != NULL) {
            subject->stored = calloc(recorder->metric_count, sizeof(*subject->stored));
            if (subject->stored == NULL) {
                return -ENOMEM;
            }
        }
    }
    return 0;
}

static int store_tick(struct recorder *recorder, const struct moment *now, int64_t tick,
    const struct buffer *data, struct error *error)
{
    sqlite3_stmt *insert = recorder->statements[INSERT_TICK];

    bind_moment(recorder, insert, now);
    (void)sqlite3_bind_int64(insert, 4, tick);
    (void)sqlite3_bind_int(insert, 5, recorder->ticks_since_keyframe < 0);
    (void)sqlite3_bind_blob64(
        insert, 6, buffer_text(data), data->length_bytes, SQLITE_STATIC);
    return step(recorder, INSERT_TICK, error);
}

static int store_event(struct recorder *recorder, const struct moment *now,
    const struct waiting_row *row, struct error *error)
{
    sqlite3_stmt *insert = recorder->statements[INSERT_EVENT];

    bind_moment(recorder, insert, now);
    (void)sqlite3_bind_int64(insert, 4, row->subject);
    bind_text(insert, 5, row->text[0]);
    bind_text(insert, 6, row->text[1]);
    return step(recorder, INSERT_EVENT, error);
}

static int store_finding(struct recorder *recorder, const struct moment *now,
    const struct waiting_row *row, struct error *error)
{
    sqlite3_stmt *insert = recorder->statements[INSERT_FINDING];

    bind_moment(recorder, insert, now);
    (void)sqlite3_bind_int64(insert, 4, row->subject);
    bind_text(insert, 5, row->text[0]);
    bind_text(insert, 6, row->text[1]);
    (void)sqlite3_bind_int(insert, 7, row->pid);
    bind_text(insert, 8, row->text[2]);
    if (row->predicts) {
        (void)sqlite3_bind_int64(insert, 9, (int64_t)row->low_bytes);
        (void)sqlite3_bind_int64(insert, 10, (int64_t)row->high_bytes);
    } else {
        (void)sqlite3_bind_null(insert, 9);
        (void)sqlite3_bind_null(insert, 10);
    }
    return step(recorder, INSERT_FINDING, error);
}

static int store_capture(struct recorder *recorder, const struct moment *now,
    const struct waiting_capture *capture, struct error *error)
{
    sqlite3_stmt *insert = recorder->statements[INSERT_CAPTURE];

    bind_moment(recorder, insert, now);
    (void)sqlite3_bind_int64(insert, 4, capture->target);
    (void)sqlite3_bind_int64(insert, 5, (int64_t)capture->plain_bytes);
    (void)sqlite3_bind_blob64(insert, 6, buffer_text(&capture->packed),
        capture->packed.length_bytes, SQLITE_STATIC);
    return step(recorder, INSERT_CAPTURE, error);
}

static int store_waiting(
    struct recorder *recorder, const struct moment *now, struct error *error)
{
    int rc = 0;

    for (struct waiting_row *row = recorder->first_row; rc == 0 && row != NULL;
         row = row->next) {
        rc = row->kind == WAITING_EVENT ? store_event(recorder, now, row, error)
                                        : store_finding(recorder, now, row, error);
    }
    for (struct waiting_capture *capture = recorder->first_capture;
         rc == 0 && capture != NULL; capture = capture->next) {
        rc = store_capture(recorder, now, capture, error);
    }
    return rc;
}

static int store_lost(struct recorder *recorder, struct error *error)
{
    sqlite3_stmt *update = recorder->statements[UPDATE_LOST];

    if (recorder->ticks_lost == 0) {
        return 0;
    }
    (void)sqlite3_bind_int64(update, 1, recorder->session);
    (void)sqlite3_bind_int64(update, 2, (int64_t)recorder->ticks_lost);
    return step(recorder, UPDATE_LOST, error);
}

static int store_all(struct recorder *recorder, const struct moment *now,
    const struct buffer *data, struct error *error)
{
    const int64_t tick = recorder->last_tick + 1;
    int rc = database_run(recorder->database, "BEGIN IMMEDIATE", doing, error);

    if (rc == 0) {
        rc = store_subjects(recorder, tick, error);
    }
    if (rc == 0) {
        rc = store_tick(recorder, now, tick, data, error);
    }
    if (rc == 0) {
        rc = store_waiting(recorder, now, error);
    }
    if (rc == 0) {
        rc = store_lost(recorder, error);
    }
    if (rc == 0) {
        rc = database_run(recorder->database, "COMMIT", doing, error);
    }
    if (rc != 0) {
        (void)sqlite3_exec(recorder->database, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

static void count_capture(struct recorder *recorder)
{
    for (struct waiting_capture *capture = recorder->first_capture; capture != NULL;
         capture = capture->next) {
        recorder->captures++;
    }
}

int recorder_commit(
    struct recorder *recorder, const struct moment *now, struct error *error)
{
    const bool keyframe = recorder->ticks_since_keyframe < 0;
    struct error why = {0};
    struct buffer data;

    buffer_init(&data);
    int rc = recorder_is_in_place(recorder)
                 ? make_room(recorder)
                 : error_set(&why, -ESTALE, "the file was removed or replaced meanwhile");
    if (rc == 0) {
        rc = encode(recorder, keyframe, &data);
    }
    if (rc == 0) {
        rc = store_all(recorder, now, &data, &why);
    }
    buffer_release(&data);
    if (rc == 0) {
        recorder->last_tick++;
        recorder->ticks++;
        recorder->ticks_since_keyframe++;
        if (recorder->ticks_since_keyframe >= RECORDER_KEYFRAME_TICKS) {
            recorder->ticks_since_keyframe = -1;
        }
        count_capture(recorder);
        recorder_settle(recorder);
    } else {
        recorder->ticks_lost++;
        (void)error_set(error, rc, "cannot record into '%s': %s", recorder->path,
            error_text(&why, rc));
    }
    recorder_drop_waiting(recorder, rc == 0);
    return rc;
}
