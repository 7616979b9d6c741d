/*
 * recorder_retain.c - what an old or large recording gives up.
 *
 * Age is counted in ticks, not by a clock: a clock that jumps years ahead must not empty a
 * recording. Ticks go by whole intervals of keyframes, and with them captures, findings,
 * events and subjects that are older. Size first costs captures, those which stand closest
 * together for their age, so that the far past keeps a few and the last hour all of them.
 */
#include "record/recorder_retain.h"

#include <stdio.h>

#include "record/database.h"
#include "record/recorder_state.h"

enum { ROUNDS = 200, VACUUM_PAGES = 2000 };

static const char doing[] = "remove what is old";

/* ?1: the first tick that stays, a keyframe. */
static const char *const removals[] = {
    "DELETE FROM captures WHERE (session, boot_ms) <"
    " (SELECT session, boot_ms FROM ticks WHERE id=?1)",
    "DELETE FROM findings WHERE (session, boot_ms) <"
    " (SELECT session, boot_ms FROM ticks WHERE id=?1)",
    "DELETE FROM events WHERE (session, boot_ms) <"
    " (SELECT session, boot_ms FROM ticks WHERE id=?1)",
    "DELETE FROM subjects WHERE last_tick IS NOT NULL AND last_tick < ?1"
    " AND kind IN ('process','cgroup')",
    "DELETE FROM ticks WHERE id < ?1",
    "DELETE FROM sessions WHERE id < (SELECT session FROM ticks WHERE id=?1)",
};

static int run_with(
    sqlite3 *database, const char *sql, int64_t number, struct error *error)
{
    sqlite3_stmt *statement = database_prepare(database, sql, error);

    if (statement == NULL) {
        return -1;
    }
    (void)sqlite3_bind_int64(statement, 1, number);
    int rc = database_step(statement, doing, error);
    (void)sqlite3_finalize(statement);
    return rc;
}

static int remove_before(struct recorder *recorder, int64_t tick, struct error *error)
{
    sqlite3 *database = recorder->database;
    int rc = database_run(database, "BEGIN IMMEDIATE", doing, error);

    for (size_t i = 0; rc == 0 && i < sizeof(removals) / sizeof(removals[0]); i++) {
        rc = run_with(database, removals[i], tick, error);
    }
    if (rc == 0) {
        rc = database_run(database, "COMMIT", doing, error);
    }
    if (rc != 0) {
        (void)sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

/* The number of the last keyframe at or before tick that is not the first; 0: none. */
static int keyframe_before(
    struct recorder *recorder, int64_t tick, int64_t *keyframe, struct error *error)
{
    sqlite3_stmt *find = database_prepare(recorder->database,
        "SELECT max(id) FROM ticks WHERE keyframe=1 AND id<=?1 AND"
        " id>(SELECT min(id) FROM ticks)",
        error);

    *keyframe = 0;
    if (find == NULL) {
        return -1;
    }
    (void)sqlite3_bind_int64(find, 1, tick);
    if (sqlite3_step(find) == SQLITE_ROW) {
        *keyframe = sqlite3_column_int64(find, 0);
    }
    (void)sqlite3_finalize(find);
    return 0;
}

static int remove_old(struct recorder *recorder, struct error *error)
{
    const struct recorder_options *options = &recorder->options;
    int64_t keyframe;

    if (options->keep_ms == 0 || options->every_ms == 0) {
        return 0;
    }
    const uint64_t kept = options->keep_ms / options->every_ms;
    if (kept >= (uint64_t)recorder->last_tick) {
        return 0;
    }
    int rc =
        keyframe_before(recorder, recorder->last_tick - (int64_t)kept, &keyframe, error);
    return rc == 0 && keyframe > 0 ? remove_before(recorder, keyframe, error) : rc;
}

/*
 * The capture whose neighbours of the same target stand closest for its age; the first
 * and the last of each target stay.
 */
static int thin_captures(struct recorder *recorder, bool *removed, struct error *error)
{
    static const char sql[] =
        "DELETE FROM captures WHERE id=(SELECT id FROM (SELECT id, wall_ms,"
        " lag(wall_ms) OVER w AS before, lead(wall_ms) OVER w AS after,"
        " max(wall_ms) OVER () AS last FROM captures"
        " WINDOW w AS (PARTITION BY subject ORDER BY id))"
        " WHERE before IS NOT NULL AND after IS NOT NULL"
        " ORDER BY (after-before)*1.0/(last-wall_ms+1) LIMIT 1)";

    int rc = database_run(recorder->database, sql, doing, error);
    *removed = rc == 0 && sqlite3_changes(recorder->database) > 0;
    return rc;
}

static int remove_much(struct recorder *recorder, struct error *error)
{
    struct recorder_state state;
    int rc = 0;

    recorder_get_state(recorder, &state);
    for (int round = 0;
         rc == 0 && round < ROUNDS && state.file_bytes > recorder->options.max_bytes;
         round++) {
        bool removed;
        rc = thin_captures(recorder, &removed, error);
        if (rc == 0 && !removed) {
            int64_t keyframe;
            rc = database_number(recorder->database,
                "SELECT id FROM ticks WHERE keyframe=1 AND"
                " id>(SELECT min(id) FROM ticks) ORDER BY id LIMIT 1",
                &keyframe, error);
            if (rc != 0 || keyframe == 0) {
                break;
            }
            rc = remove_before(recorder, keyframe, error);
        }
        recorder_get_state(recorder, &state);
    }
    return rc;
}

int recorder_retain(struct recorder *recorder, struct error *error)
{
    struct error why = {0};
    int rc = remove_old(recorder, &why);

    if (rc == 0 && recorder->options.max_bytes > 0) {
        rc = remove_much(recorder, &why);
    }
    if (rc == 0) {
        char vacuum[64];
        (void)snprintf(
            vacuum, sizeof(vacuum), "PRAGMA incremental_vacuum(%d)", VACUUM_PAGES);
        rc = database_run(recorder->database, vacuum, doing, &why);
    }
    return rc == 0 ? 0
                   : error_set(error, rc, "cannot keep '%s' within its bounds: %s",
                         recorder->path, why.text);
}
