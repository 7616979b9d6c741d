/* test_recording_damage.c - recorders that are killed or come second, files that are none or damaged. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "record/recording_cursor.h"
#include "recorded_file.h"

/* A child that is killed right after a commit: what it committed is there. */
static void r_killed_recorder_loses_nothing_committed(void **state)
{
    struct recording recording;
    int64_t values[64] = {0};
    int status;

    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        struct recorder *recorder = recorded_open(&recorded_usual, 0);
        const size_t rss = recorded_metric(recorder, "process.vm_rss");
        const uint32_t id = recorded_subject(recorder, RECORDING_PROCESS, 0, 10, "a");
        for (int i = 0; i < 50; i++) {
            recorded_put(recorder, id, rss, (uint64_t)i);
            recorded_commit(recorder, i * 5);
        }
        recorded_put(recorder, id, rss, 1000000);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    recorded_read(&recording);
    assert_int_equal(recorded_values(&recording, 1, "process.vm_rss", values, 64), 50);
    assert_int_equal(values[49], 49);
    assert_false(recording.sessions[0].ended);
    recording_close(&recording);
    struct recorder *again = recorded_open(&recorded_usual, 500);
    assert_int_equal(recorded_subject(again, RECORDING_PROCESS, 0, 10, "a"), 1);
    recorded_commit(again, 500);
    recorded_close(again, 505);
}

static void a_second_recorder_is_refused(void **state)
{
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const struct moment now = recorded_moment(1);
    struct recorder *other;
    struct error error = {0};

    (void)state;
    assert_int_equal(
        recorder_open(recorded_path, &recorded_usual, &now, &other, &error), -EBUSY);
    assert_non_null(strstr(error.text, "another strata"));
    recorded_close(recorder, 10);
}

static void run_sql(const char *sql)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(recorded_path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void expect_refusal(int code, const char *part)
{
    struct recording recording;
    struct error error = {0};

    assert_int_equal(recording_open(recorded_path, &recording, &error), code);
    if (strstr(error.text, part) == NULL || strstr(error.text, recorded_path) == NULL) {
        fail_msg("no '%s' in '%s'", part, error.text);
    }
}

static void write_small(void)
{
    struct recorder *recorder = recorded_open(&recorded_usual, 0);

    (void)recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    recorded_commit(recorder, 0);
    recorded_close(recorder, 5);
}

static void files_that_are_no_recordings(void **state)
{
    const struct moment now = recorded_moment(0);
    struct recorder *recorder;
    struct error error = {0};

    (void)state;
    expect_refusal(-ENOENT, "No such file");
    run_sql("CREATE TABLE x(y)");
    expect_refusal(-EINVAL, "another program");
    assert_int_equal(
        recorder_open(recorded_path, &recorded_usual, &now, &recorder, &error), -EINVAL);
    (void)recorded_remove_file(NULL);
    FILE *file = fopen(recorded_path, "w");
    (void)fputs("no database at all, but longer than the magic of one would be", file);
    (void)fclose(file);
    expect_refusal(-EINVAL, "not a database");
    assert_int_equal(truncate(recorded_path, 0), 0);
    expect_refusal(-ENODATA, "empty");
    write_small(); /* an empty file is taken over */
    run_sql("PRAGMA user_version=7");
    expect_refusal(-EPROTO, "newer");
    run_sql("PRAGMA user_version=1; CREATE VIEW v AS SELECT 1");
    expect_refusal(-EINVAL, "damaged");
    run_sql("DROP VIEW v; ALTER TABLE ticks RENAME TO tocks");
    expect_refusal(-EINVAL, "ticks");
}

/* A damaged tick costs what follows it up to the next keyframe, and is counted. */
static void damaged_ticks_are_left_out(void **state)
{
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const size_t rss = recorded_metric(recorder, "process.vm_rss");
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;
    int count = 0;

    (void)state;
    for (int i = 0; i < 500; i++) {
        recorded_put(recorder, target, rss, (uint64_t)i * 10);
        recorded_commit(recorder, i * 5);
    }
    recorded_close(recorder, 5000);
    run_sql("UPDATE ticks SET data=x'ff00ff' WHERE id=101");
    recorded_read(&recording);
    assert_int_equal(
        recording_cursor_open(&recording, INT64_MIN, INT64_MAX, &cursor, NULL), 0);
    while (recording_next(cursor, &tick, NULL) == 1) {
        const int64_t place = (tick.at_ms - recording.first_ms) / 5000;
        assert_int_equal(recording_value(cursor, target, (int)rss).value, place * 10);
        count++;
    }
    assert_int_equal(recording_damaged_ticks(cursor), 500 - count);
    assert_in_range(count, 350, 370); /* 241 ticks from a keyframe to the next */
    recording_cursor_close(cursor);
    recording_close(&recording);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, recorded_remove_file)
    const struct CMUnitTest tests[] = {
        TEST(r_killed_recorder_loses_nothing_committed),
        TEST(a_second_recorder_is_refused),
        TEST(files_that_are_no_recordings),
        TEST(damaged_ticks_are_left_out),
    };

    return cmocka_run_group_tests(tests, recorded_make_folder, recorded_remove_folder);
}
