/*
 * recorder_open.c - starts, resumes and ends a session of recording.
 *
 * The lock against a second recorder is flock(2) on the file itself: SQLite uses fcntl(2)
 * locks there, which do not meet it. Its descriptor stays open until SQLite has closed the
 * file, since closing any descriptor of a file drops a process's fcntl locks.
 */
#include "record/recorder_open.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "record/database.h"
#include "record/recorder_state.h"
#include "record/recording_format.h"

static const char settings[] = "PRAGMA journal_mode=WAL;"
                               "PRAGMA synchronous=NORMAL;"
                               "PRAGMA journal_size_limit=4194304;"
                               "PRAGMA temp_store=MEMORY;";

static const char *const statement_texts[RECORDER_STATEMENTS] = {
    [INSERT_SUBJECT] = "INSERT INTO subjects(id, kind, owner, boot_id, pid, start_ticks,"
                       " name, title) VALUES(?1,?2,?3,?4,?5,?6,?7,?8)",
    [RENAME_SUBJECT] = "UPDATE subjects SET name=?2 WHERE id=?1",
    [END_SUBJECT] = "UPDATE subjects SET last_tick=?2 WHERE id=?1",
    [REVIVE_SUBJECT] = "UPDATE subjects SET last_tick=NULL WHERE id=?1",
    [FIND_SUBJECT] = "SELECT id FROM subjects WHERE pid=?1 AND start_ticks=?2 AND kind=?3"
                     " AND owner=?4 AND boot_id=?5 AND (?6 IS NULL OR name=?6)",
    [INSERT_METRIC] = "INSERT INTO metrics(id, name, unit) VALUES(?1,?2,?3)",
    [INSERT_TICK] = "INSERT INTO ticks(session, wall_ms, boot_ms, id, keyframe, data)"
                    " VALUES(?1,?2,?3,?4,?5,?6)",
    [INSERT_CAPTURE] = "INSERT INTO captures(session, wall_ms, boot_ms, subject,"
                       " plain_bytes, data) VALUES(?1,?2,?3,?4,?5,?6)",
    [INSERT_EVENT] = "INSERT INTO events(session, wall_ms, boot_ms, subject, kind, text)"
                     " VALUES(?1,?2,?3,?4,?5,?6)",
    [INSERT_FINDING] = "INSERT INTO findings(session, wall_ms, boot_ms, subject, rule,"
                       " severity, pid, summary, low_bytes, high_bytes)"
                       " VALUES(?1,?2,?3,?4,?5,?6,?7,?8,?9,?10)",
    [UPDATE_LOST] = "UPDATE sessions SET ticks_lost=?2 WHERE id=?1",
};

static int open_and_lock(const char *path, int *descriptor, struct error *error)
{
    struct stat status;
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0600);

    if (fd < 0) {
        return error_set(error, -errno, "%s", strerror(errno));
    }
    *descriptor = fd;
    if (fstat(fd, &status) != 0) {
        return error_set(error, -errno, "%s", strerror(errno));
    }
    if (!S_ISREG(status.st_mode)) {
        return error_set(error, -EINVAL, "it is no regular file");
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0) {
        return errno == EWOULDBLOCK
                   ? error_set(error, -EBUSY, "another strata records into it")
                   : error_set(error, -errno, "cannot lock it: %s", strerror(errno));
    }
    return 0;
}

static int open_database(struct recorder *recorder, struct error *error)
{
    int rc = database_open(recorder->path, true, &recorder->database, error);

    if (rc == 0) {
        rc = recording_format_check(recorder->database, error);
    }
    if (rc == -ENODATA) {
        error_reset(error);
        rc = recording_format_create(recorder->database, error);
    }
    if (rc == 0) {
        rc = database_run(recorder->database, settings, "set the journal", error);
    }
    return rc;
}

static int prepare_statements(struct recorder *recorder, struct error *error)
{
    for (int i = 0; i < RECORDER_STATEMENTS; i++) {
        recorder->statements[i] =
            database_prepare(recorder->database, statement_texts[i], error);
        if (recorder->statements[i] == NULL) {
            return -EINVAL;
        }
    }
    return 0;
}

static int load_metrics(struct recorder *recorder, struct error *error)
{
    sqlite3_stmt *rows = database_prepare(
        recorder->database, "SELECT id, name FROM metrics ORDER BY id", error);
    int rc = 0;

    if (rows == NULL) {
        return -EINVAL;
    }
    while (rc == 0 && sqlite3_step(rows) == SQLITE_ROW) {
        const char *name = (const char *)sqlite3_column_text(rows, 1);
        if (recorder->metric_count == TICK_MAX_METRICS || name == NULL ||
            sqlite3_column_int64(rows, 0) != (int64_t)recorder->metric_count) {
            rc = error_set(error, -EINVAL, "its list of metrics is damaged");
            break;
        }
        recorder->metric_names[recorder->metric_count] = strdup(name);
        rc = recorder->metric_names[recorder->metric_count++] != NULL ? 0 : -ENOMEM;
    }
    (void)sqlite3_finalize(rows);
    return rc;
}

int recorder_metric(
    struct recorder *recorder, const char *name, const char *unit, size_t *metric)
{
    sqlite3_stmt *insert = recorder->statements[INSERT_METRIC];

    for (size_t i = 0; i < recorder->metric_count; i++) {
        if (strcmp(recorder->metric_names[i], name) == 0) {
            *metric = i;
            return 0;
        }
    }
    if (recorder->metric_count == TICK_MAX_METRICS) {
        return -EFBIG;
    }
    (void)sqlite3_bind_int64(insert, 1, (int64_t)recorder->metric_count);
    (void)sqlite3_bind_text(insert, 2, name, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(insert, 3, unit, -1, SQLITE_STATIC);
    int rc = database_step(insert, "store a metric", NULL);
    if (rc == 0) {
        *metric = recorder->metric_count;
        recorder->metric_names[recorder->metric_count] = strdup(name);
        rc = recorder->metric_names[recorder->metric_count++] != NULL ? 0 : -ENOMEM;
    }
    return rc;
}

/* The numbers of one table's facts: a newer strata may have put others between them. */
static int add_table(struct recorder *recorder, const char *prefix,
    const struct fact_info *table, size_t count, size_t *numbers)
{
    static const char *const units[] = {[FACT_UNIT_BYTES] = "bytes",
        [FACT_UNIT_COUNT] = "count",
        [FACT_UNIT_MICROSECONDS] = "us"};
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < count; i++) {
        struct buffer name;
        buffer_init(&name);
        buffer_printf(&name, "%s.%s", prefix, table[i].name);
        rc = recorder_metric(
            recorder, buffer_text(&name), units[table[i].unit], &numbers[i]);
        buffer_release(&name);
    }
    return rc;
}

static int add_tables(struct recorder *recorder)
{
    int rc = add_table(recorder, "process", process_fact_table, PROCESS_FACT_COUNT,
        recorder->process_metrics);

    for (int i = 0; i < PROCESS_FACT_COUNT; i++) {
        const char *source = process_fact_table[i].source;
        recorder->process_metric_stays[i] =
            strcmp(source, "stat") != 0 && strcmp(source, "status") != 0;
    }
    if (rc == 0) {
        rc = add_table(recorder, "cgroup", cgroup_fact_table, CGROUP_FACT_COUNT,
            recorder->cgroup_metrics);
    }
    if (rc == 0) {
        rc = add_table(
            recorder, "host", host_fact_table, HOST_FACT_COUNT, recorder->host_metrics);
    }
    return rc;
}

static int begin_session(struct recorder *recorder, struct error *error)
{
    const struct moment *now = &recorder->started;
    const struct recorder_options *options = &recorder->options;
    sqlite3_stmt *insert;
    int rc = database_run(recorder->database,
        "UPDATE subjects SET last_tick=(SELECT coalesce(max(id),0) FROM ticks)"
        " WHERE last_tick IS NULL",
        "end the session before", error);

    if (rc == 0) {
        rc = database_number(
            recorder->database, "SELECT max(id) FROM ticks", &recorder->last_tick, error);
    }
    if (rc == 0) {
        rc = database_number(recorder->database, "SELECT max(id) FROM subjects",
            &recorder->last_subject, error);
    }
    if (rc != 0) {
        return rc;
    }
    insert = database_prepare(recorder->database,
        "INSERT INTO sessions(boot_id, wall_ms, boot_ms, every_ms, host, version)"
        " VALUES(?1,?2,?3,?4,?5,?6)",
        error);
    if (insert == NULL) {
        return -EINVAL;
    }
    (void)sqlite3_bind_text(insert, 1, now->boot_id, -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(insert, 2, now->wall_ms);
    (void)sqlite3_bind_int64(insert, 3, now->boot_ms);
    (void)sqlite3_bind_int64(insert, 4, (int64_t)options->every_ms);
    (void)sqlite3_bind_text(insert, 5, options->host, -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(insert, 6, options->version, -1, SQLITE_STATIC);
    rc = database_step(insert, "begin the session", error);
    (void)sqlite3_finalize(insert);
    recorder->session = sqlite3_last_insert_rowid(recorder->database);
    return rc;
}

/* In one transaction: an interrupted start leaves no trace. */
static int begin(struct recorder *recorder, struct error *error)
{
    int rc =
        database_run(recorder->database, "BEGIN IMMEDIATE", "begin the session", error);

    if (rc == 0) {
        rc = prepare_statements(recorder, error);
    }
    if (rc == 0) {
        rc = load_metrics(recorder, error);
    }
    if (rc == 0) {
        rc = add_tables(recorder);
    }
    if (rc == 0) {
        rc = begin_session(recorder, error);
    }
    return rc != 0
               ? rc
               : database_run(recorder->database, "COMMIT", "begin the session", error);
}

bool recorder_is_in_place(const struct recorder *recorder)
{
    struct stat ours;
    struct stat named;

    return fstat(recorder->lock_fd, &ours) == 0 && stat(recorder->path, &named) == 0 &&
           ours.st_dev == named.st_dev && ours.st_ino == named.st_ino;
}

/*
 * SQLite leaves the log of a file that was removed or renamed, and another file of that name
 * would meet it. What the log holds is in the file by then (recorder_close).
 */
static void remove_log(const char *path)
{
    static const char *const endings[] = {"-wal", "-shm"};
    struct buffer name;

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        buffer_init(&name);
        buffer_printf(&name, "%s%s", path, endings[i]);
        if (buffer_error(&name) == 0) {
            (void)unlink(buffer_text(&name));
        }
        buffer_release(&name);
    }
}

static void recorder_free(struct recorder *recorder)
{
    for (int i = 0; i < RECORDER_STATEMENTS; i++) {
        (void)sqlite3_finalize(recorder->statements[i]);
    }
    (void)sqlite3_close(recorder->database);
    if (recorder->lock_fd >= 0) {
        if (access(recorder->path, F_OK) != 0 && errno == ENOENT) {
            remove_log(recorder->path);
        }
        (void)close(recorder->lock_fd);
    }
    recorder_drop_waiting(recorder, true);
    region_release(&recorder->waiting_region);
    recorder_end_all(recorder);
    free(recorder->subjects);
    for (size_t i = 0; i < recorder->metric_count; i++) {
        free(recorder->metric_names[i]);
    }
    free(recorder->path);
    free(recorder);
}

int recorder_open(const char *path, const struct recorder_options *options,
    const struct moment *now, struct recorder **recorder, struct error *error)
{
    struct recorder *made = calloc(1, sizeof(*made));
    struct error why = {0};
    int rc = -ENOMEM;

    if (made == NULL) {
        return error_set(error, rc, "cannot record into '%s': out of memory", path);
    }
    made->lock_fd = -1;
    made->options = *options;
    made->started = *now;
    made->ticks_since_keyframe = -1;
    recorder_drop_waiting(made, true);
    made->path = strdup(path);
    if (made->path != NULL) {
        rc = open_and_lock(path, &made->lock_fd, &why);
    }
    if (rc == 0) {
        rc = open_database(made, &why);
    }
    if (rc == 0) {
        rc = begin(made, &why);
    }
    if (rc != 0) {
        recorder_free(made);
        return error_set(
            error, rc, "cannot record into '%s': %s", path, error_text(&why, rc));
    }
    *recorder = made;
    return 0;
}

int recorder_close(struct recorder *recorder, const struct moment *now, uint64_t cpu_us,
    struct error *error)
{
    struct error why = {0};
    sqlite3_stmt *end = database_prepare(recorder->database,
        "UPDATE sessions SET ended_boot_ms=?2, cpu_us=?3 WHERE id=?1", &why);
    int rc = end == NULL ? -EINVAL : 0;

    if (rc == 0) {
        (void)sqlite3_bind_int64(end, 1, recorder->session);
        (void)sqlite3_bind_int64(end, 2, now->boot_ms);
        (void)sqlite3_bind_int64(end, 3, (int64_t)cpu_us);
        rc = database_step(end, "end the session", &why);
    }
    (void)sqlite3_finalize(end);
    if (!recorder_is_in_place(
            recorder)) { /* closing would leave the last ticks in the log */
        (void)sqlite3_exec(
            recorder->database, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    }
    if (rc != 0) {
        (void)error_set(error, rc, "cannot end recording '%s': %s", recorder->path,
            error_text(&why, rc));
    }
    recorder_free(recorder);
    return rc;
}
