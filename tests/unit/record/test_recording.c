/* test_recording.c - what a recorder stored is what a reader finds, whatever happened between. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "record/capture.h"
#include "record/recorder.h"
#include "record/recorder_commit.h"
#include "record/recorder_facts.h"
#include "record/recorder_open.h"
#include "record/recorder_retain.h"
#include "record/recording.h"
#include "record/recording_capture.h"
#include "record/recording_cursor.h"

static char folder[] = "/tmp/strata-recording-XXXXXX";
static char path[64];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof(path), "%s/r.db", folder);
    return 0;
}

static int remove_files(void **state)
{
    static const char *const ends[] = {"", "-wal", "-shm"};

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char name[80];
        (void)snprintf(name, sizeof(name), "%s%s", path, ends[i]);
        (void)unlink(name);
    }
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const struct recorder_options usual = {
    .every_ms = 5000, .host = "here", .version = "1"};

static struct moment moment_at(int64_t seconds)
{
    struct moment moment = {.wall_ms = INT64_C(1700000000000) + seconds * 1000,
        .boot_ms = 50000 + seconds * 1000,
        .boot_id = "first boot"};

    return moment;
}

static struct recorder *open_ok(const struct recorder_options *options, int64_t seconds)
{
    const struct moment now = moment_at(seconds);
    struct recorder *recorder;
    struct error error = {0};

    if (recorder_open(path, options, &now, &recorder, &error) != 0) {
        fail_msg("%s", error.text);
    }
    return recorder;
}

static void commit_ok(struct recorder *recorder, int64_t seconds)
{
    const struct moment now = moment_at(seconds);
    struct error error = {0};

    if (recorder_commit(recorder, &now, &error) != 0) {
        fail_msg("%s", error.text);
    }
}

static void close_ok(struct recorder *recorder, int64_t seconds)
{
    const struct moment now = moment_at(seconds);

    assert_int_equal(recorder_close(recorder, &now, 1234, NULL), 0);
}

static uint32_t subject_ok(struct recorder *recorder, enum recording_kind kind,
    uint32_t owner, int32_t pid, const char *name)
{
    char text[32];
    const struct recording_subject key = {
        .kind = kind, .owner = owner, .pid = pid, .start_ticks = 7, .name = text};
    uint32_t id;

    (void)snprintf(text, sizeof(text), "%s", name);
    assert_int_equal(recorder_subject(recorder, &key, &id), 0);
    return id;
}

static void put(
    struct recorder *recorder, uint32_t subject, size_t metric, uint64_t value)
{
    const struct fact fact = {.value = value, .state = FACT_OK};

    recorder_put(recorder, subject, metric, &fact);
}

static size_t metric_ok(struct recorder *recorder, const char *name)
{
    size_t metric;

    assert_int_equal(recorder_metric(recorder, name, "bytes", &metric), 0);
    return metric;
}

static void open_reader(struct recording *recording)
{
    struct error error = {0};

    if (recording_open(path, recording, &error) != 0) {
        fail_msg("%s", error.text);
    }
}

/* The values of a metric at all ticks, -1 where it is absent. */
static size_t values_of(const struct recording *recording, uint32_t subject,
    const char *name, int64_t *values, size_t maximum)
{
    const int metric = recording_metric(recording, name);
    struct recording_cursor *cursor;
    struct recording_tick tick;
    size_t count = 0;

    assert_true(metric >= 0);
    assert_int_equal(
        recording_cursor_open(recording, INT64_MIN, INT64_MAX, &cursor, NULL), 0);
    while (recording_next(cursor, &tick, NULL) == 1) {
        const struct fact fact = recording_value(cursor, subject, metric);
        assert_true(count < maximum);
        values[count++] = fact.state == FACT_OK ? (int64_t)fact.value : -1;
    }
    recording_cursor_close(cursor);
    return count;
}

/* A process of which two figures move, over more ticks than a keyframe lasts. */
static void figures_come_back_at_every_tick(void **state)
{
    enum { TICKS = 700 };
    struct recorder *recorder = open_ok(&usual, 0);
    const size_t rss = metric_ok(recorder, "process.vm_rss");
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    const uint32_t late = target + 2;
    struct recording recording;
    int64_t values[TICKS + 1];

    (void)state;
    const uint32_t first = subject_ok(recorder, RECORDING_PROCESS, target, 10, "a");
    for (int i = 0; i < TICKS; i++) {
        put(recorder, first, rss, (uint64_t)(i * i % 1000) << (i % 50));
        if (i >= 300) {
            assert_int_equal(
                subject_ok(recorder, RECORDING_PROCESS, target, 11, "b"), late);
            put(recorder, late, rss, 5);
        }
        commit_ok(recorder, i * 5);
    }
    close_ok(recorder, TICKS * 5);
    open_reader(&recording);
    assert_int_equal(recording.tick_count, TICKS);
    assert_int_equal(
        values_of(&recording, first, "process.vm_rss", values, TICKS), TICKS);
    for (int i = 0; i < TICKS; i++) {
        assert_true(values[i] == (int64_t)((uint64_t)(i * i % 1000) << (i % 50)));
    }
    (void)values_of(&recording, late, "process.vm_rss", values, TICKS);
    assert_int_equal(values[299], -1);
    assert_int_equal(values[300], 5);
    assert_int_equal(recording.first_ms, INT64_C(1700000000000));
    assert_int_equal(recording.last_ms - recording.first_ms, (TICKS - 1) * 5000);
    assert_int_equal(recording.sessions[0].cpu_us, 1234);
    assert_true(recording.sessions[0].ended);
    assert_string_equal(recording_subject(&recording, late)->name, "b");
    recording_close(&recording);
}

static void a_span_of_time_starts_in_the_middle(void **state)
{
    struct recorder *recorder = open_ok(&usual, 0);
    const size_t rss = metric_ok(recorder, "process.vm_rss");
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;

    (void)state;
    for (int i = 0; i < 600; i++) {
        put(recorder, target, rss, (uint64_t)i);
        commit_ok(recorder, i * 5 + (i >= 400 ? 100 : 0));
    }
    close_ok(recorder, 10000);
    open_reader(&recording);
    const int64_t from = recording.first_ms + 399 * INT64_C(5000);
    assert_int_equal(
        recording_cursor_open(&recording, from, from + 105000, &cursor, NULL), 0);
    assert_int_equal(recording_next(cursor, &tick, NULL), 1);
    assert_int_equal(tick.at_ms, from);
    assert_int_equal(recording_value(cursor, target, (int)rss).value, 399);
    assert_int_equal(recording_next(cursor, &tick, NULL), 1);
    assert_true(tick.after_gap);
    assert_int_equal(recording_value(cursor, target, (int)rss).value, 400);
    assert_int_equal(recording_next(cursor, &tick, NULL), 0);
    recording_cursor_close(cursor);
    recording_close(&recording);
}

/* Ended members vanish, a pid that comes back with another start is another process. */
static void members_that_come_and_go(void **state)
{
    struct recorder *recorder = open_ok(&usual, 0);
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    char name[] = "worker";
    struct process_facts one = {.pid = 5, .start_time_ticks = 1, .name = name};
    struct facts facts = {.processes = &one, .process_count = 1};
    struct recording recording;
    int64_t values[8];

    (void)state;
    one.values[PROCESS_FACT_VM_RSS] = (struct fact){.value = 100, .state = FACT_OK};
    assert_int_equal(recorder_put_facts(recorder, target, &facts), 0);
    const uint32_t first = recorder_process(recorder, target, &one);
    commit_ok(recorder, 0);
    one.start_time_ticks = 2;
    assert_int_equal(recorder_put_facts(recorder, target, &facts), 0);
    const uint32_t second = recorder_process(recorder, target, &one);
    assert_int_not_equal(first, second);
    commit_ok(recorder, 5);
    recorder_end_target(recorder, target);
    commit_ok(recorder, 10);
    one.start_time_ticks = 2;
    assert_int_equal(subject_ok(recorder, RECORDING_TARGET, 0, 0, "t"), target);
    assert_int_equal(recorder_put_facts(recorder, target, &facts), 0);
    assert_int_equal(recorder_process(recorder, target, &one), second);
    commit_ok(recorder, 15);
    close_ok(recorder, 20);
    open_reader(&recording);
    assert_int_equal(values_of(&recording, first, "process.vm_rss", values, 8), 4);
    assert_int_equal(values[0], 100);
    assert_int_equal(values[1], -1);
    assert_int_equal(values_of(&recording, second, "process.vm_rss", values, 8), 4);
    assert_int_equal(values[0], -1);
    assert_int_equal(values[1], 100);
    assert_int_equal(values[2], -1);
    assert_int_equal(values[3], 100);
    assert_true(recording_subject(&recording, first)->ended);
    assert_false(recording_subject(&recording, second)->ended);
    recording_close(&recording);
}

static void states_and_signs_survive(void **state)
{
    struct recorder *recorder = open_ok(&usual, 0);
    const size_t residual = metric_ok(recorder, "layer.residual");
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    const struct fact facts[] = {{(uint64_t)-5, 0, FACT_OK}, {9, 0, FACT_DENIED},
        {UINT64_MAX / 2, 0, FACT_STALE}, {0, 0, FACT_OK}};
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;

    (void)state;
    for (int i = 0; i < 4; i++) {
        recorder_put(recorder, target, residual, &facts[i]);
        commit_ok(recorder, i * 5);
    }
    close_ok(recorder, 20);
    open_reader(&recording);
    assert_int_equal(
        recording_cursor_open(&recording, INT64_MIN, INT64_MAX, &cursor, NULL), 0);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(recording_next(cursor, &tick, NULL), 1);
        const struct fact fact = recording_value(cursor, target, (int)residual);
        assert_int_equal(fact.state, facts[i].state);
        assert_true(fact.value == (facts[i].state == FACT_DENIED ? 0 : facts[i].value));
    }
    recording_cursor_close(cursor);
    recording_close(&recording);
}

static void resumed_sessions_go_on_with_the_same_subjects(void **state)
{
    struct recording recording;
    int64_t values[4];
    uint32_t ids[2];

    (void)state;
    for (int session = 0; session < 2; session++) {
        struct recorder *recorder = open_ok(&usual, session * 100);
        const size_t rss = metric_ok(recorder, "process.vm_rss");
        ids[session] = subject_ok(recorder, RECORDING_PROCESS, 0, 10, "a");
        put(recorder, ids[session], rss, (uint64_t)session + 1);
        commit_ok(recorder, session * 100);
        close_ok(recorder, session * 100 + 5);
    }
    assert_int_equal(ids[0], ids[1]);
    open_reader(&recording);
    assert_int_equal(recording.session_count, 2);
    assert_int_equal(values_of(&recording, ids[0], "process.vm_rss", values, 4), 2);
    assert_int_equal(values[0], 1);
    assert_int_equal(values[1], 2);
    recording_close(&recording);
}

/* A child that is killed right after a commit: what it committed is there. */
static void r_killed_recorder_loses_nothing_committed(void **state)
{
    struct recording recording;
    int64_t values[64] = {0};
    int status;

    (void)state;
    const pid_t child = fork();
    if (child == 0) {
        struct recorder *recorder = open_ok(&usual, 0);
        const size_t rss = metric_ok(recorder, "process.vm_rss");
        const uint32_t id = subject_ok(recorder, RECORDING_PROCESS, 0, 10, "a");
        for (int i = 0; i < 50; i++) {
            put(recorder, id, rss, (uint64_t)i);
            commit_ok(recorder, i * 5);
        }
        put(recorder, id, rss, 1000000);
        (void)kill(getpid(), SIGKILL);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status));
    open_reader(&recording);
    assert_int_equal(values_of(&recording, 1, "process.vm_rss", values, 64), 50);
    assert_int_equal(values[49], 49);
    assert_false(recording.sessions[0].ended);
    recording_close(&recording);
    struct recorder *again = open_ok(&usual, 500);
    assert_int_equal(subject_ok(again, RECORDING_PROCESS, 0, 10, "a"), 1);
    commit_ok(again, 500);
    close_ok(again, 505);
}

/* The clock is set back by an hour, then ahead; time in the recording goes on. */
static void time_goes_on_when_the_clock_jumps(void **state)
{
    static const int64_t jumps_ms[] = {0, 0, -3600000, -3600000, 7200000};
    struct recorder *recorder = open_ok(&usual, 0);
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;
    struct error error = {0};
    int64_t last = INT64_MIN;

    (void)state;
    (void)subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    for (int i = 0; i < 5; i++) {
        struct moment now = moment_at(i * 5);
        now.wall_ms += jumps_ms[i];
        assert_int_equal(recorder_commit(recorder, &now, &error), 0);
    }
    close_ok(recorder, 30);
    open_reader(&recording);
    assert_int_equal(
        recording_cursor_open(&recording, INT64_MIN, INT64_MAX, &cursor, NULL), 0);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(recording_next(cursor, &tick, NULL), 1);
        assert_true(i == 0 || tick.at_ms - last == 5000);
        last = tick.at_ms;
    }
    assert_int_equal(last, INT64_C(1700000000000) + 20000 + 7200000);
    recording_cursor_close(cursor);
    recording_close(&recording);
}

static void captures_come_back_byte_for_byte(void **state)
{
    struct recorder *recorder = open_ok(&usual, 0);
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    char name[] = "what was asked for";
    struct facts facts = {
        .schema = FACTS_SCHEMA, .target_name = name, .target_cgroup = -1};
    struct buffer first;
    struct buffer again;
    struct recording recording;
    struct error error = {0};

    (void)state;
    buffer_init(&first);
    buffer_init(&again);
    assert_int_equal(capture_write(&facts, &first, &error), 0);
    for (int i = 0; i < 3; i++) {
        facts.taken_at_unix_ns = i;
        if (i != 1) {
            assert_int_equal(recorder_add_capture(recorder, target, &facts, &error), 0);
        }
        commit_ok(recorder, i * 60);
    }
    close_ok(recorder, 200);
    open_reader(&recording);
    assert_int_equal(recording.capture_count, 2);
    const struct recording_capture *found =
        recording_capture_at(&recording, target, recording.first_ms + 119999);
    assert_ptr_equal(found, &recording.captures[0]);
    assert_ptr_equal(recording_capture_at(&recording, 0, recording.first_ms - 1),
        &recording.captures[0]);
    assert_ptr_equal(
        recording_capture_at(&recording, 0, INT64_MAX), &recording.captures[1]);
    assert_null(recording_capture_at(&recording, target + 1, INT64_MAX));
    assert_int_equal(recording_capture_text(&recording, found, &again, &error), 0);
    assert_int_equal(first.length_bytes, again.length_bytes);
    assert_memory_equal(first.data, again.data, first.length_bytes);
    assert_int_equal(
        recording_capture_facts(&recording, &recording.captures[1], &facts, &error), 0);
    assert_int_equal(facts.taken_at_unix_ns, 2);
    region_release(&facts.region);
    recording_close(&recording);
    buffer_release(&first);
    buffer_release(&again);
}

static void events_and_findings_have_the_time_of_their_tick(void **state)
{
    struct recorder *recorder = open_ok(&usual, 0);
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    char rule[] = "a-rule";
    char severity[] = "warn";
    char summary[] = "much \xff is kept";
    const struct recording_finding finding = {.subject = target,
        .rule = rule,
        .severity = severity,
        .summary = summary,
        .predicts = true,
        .low_bytes = 1,
        .high_bytes = 2};
    struct recording recording;

    (void)state;
    commit_ok(recorder, 0);
    assert_int_equal(recorder_add_event(recorder, 0, "clock", "it jumped"), 0);
    assert_int_equal(recorder_add_finding(recorder, &finding), 0);
    commit_ok(recorder, 5);
    close_ok(recorder, 10);
    open_reader(&recording);
    assert_int_equal(recording.event_count, 1);
    assert_string_equal(recording.events[0].text, "it jumped");
    assert_int_equal(recording.events[0].at_ms, recording.first_ms + 5000);
    assert_int_equal(recording.finding_count, 1);
    assert_string_equal(recording.findings[0].summary, summary);
    assert_int_equal(recording.findings[0].high_bytes, 2);
    recording_close(&recording);
}

static void a_second_recorder_is_refused(void **state)
{
    struct recorder *recorder = open_ok(&usual, 0);
    const struct moment now = moment_at(1);
    struct recorder *other;
    struct error error = {0};

    (void)state;
    assert_int_equal(recorder_open(path, &usual, &now, &other, &error), -EBUSY);
    assert_non_null(strstr(error.text, "another strata"));
    close_ok(recorder, 10);
}

static void run_sql(const char *sql)
{
    sqlite3 *database;

    assert_int_equal(sqlite3_open(path, &database), SQLITE_OK);
    assert_int_equal(sqlite3_exec(database, sql, NULL, NULL, NULL), SQLITE_OK);
    sqlite3_close(database);
}

static void expect_refusal(int code, const char *part)
{
    struct recording recording;
    struct error error = {0};

    assert_int_equal(recording_open(path, &recording, &error), code);
    if (strstr(error.text, part) == NULL || strstr(error.text, path) == NULL) {
        fail_msg("no '%s' in '%s'", part, error.text);
    }
}

static void write_small(void)
{
    struct recorder *recorder = open_ok(&usual, 0);

    (void)subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    commit_ok(recorder, 0);
    close_ok(recorder, 5);
}

static void files_that_are_no_recordings(void **state)
{
    const struct moment now = moment_at(0);
    struct recorder *recorder;
    struct error error = {0};

    (void)state;
    expect_refusal(-ENOENT, "No such file");
    run_sql("CREATE TABLE x(y)");
    expect_refusal(-EINVAL, "another program");
    assert_int_equal(recorder_open(path, &usual, &now, &recorder, &error), -EINVAL);
    (void)remove_files(NULL);
    FILE *file = fopen(path, "w");
    (void)fputs("no database at all, but longer than the magic of one would be", file);
    (void)fclose(file);
    expect_refusal(-EINVAL, "not a database");
    assert_int_equal(truncate(path, 0), 0);
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
    struct recorder *recorder = open_ok(&usual, 0);
    const size_t rss = metric_ok(recorder, "process.vm_rss");
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;
    int count = 0;

    (void)state;
    for (int i = 0; i < 500; i++) {
        put(recorder, target, rss, (uint64_t)i * 10);
        commit_ok(recorder, i * 5);
    }
    close_ok(recorder, 5000);
    run_sql("UPDATE ticks SET data=x'ff00ff' WHERE id=101");
    open_reader(&recording);
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

static void old_ticks_go_and_the_rest_can_be_read(void **state)
{
    const struct recorder_options options = {
        .every_ms = 5000, .keep_ms = 500 * 5000, .host = "here", .version = "1"};
    struct recorder *recorder = open_ok(&options, 0);
    const size_t rss = metric_ok(recorder, "process.vm_rss");
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    struct recording recording;
    int64_t values[1500];

    (void)state;
    for (int i = 0; i < 1500; i++) {
        put(recorder, target, rss, (uint64_t)i);
        if (i == 0) {
            assert_int_equal(recorder_add_event(recorder, 0, "start", "old"), 0);
        }
        commit_ok(recorder, i * 5);
    }
    assert_int_equal(recorder_retain(recorder, NULL), 0);
    close_ok(recorder, 9000);
    open_reader(&recording);
    assert_in_range(recording.tick_count, 500, 500 + 241);
    assert_int_equal(recording.event_count, 0);
    const size_t count = values_of(&recording, target, "process.vm_rss", values, 1500);
    assert_int_equal(count, recording.tick_count);
    assert_int_equal(values[0], 1500 - (int64_t)count);
    assert_int_equal(values[count - 1], 1499);
    recording_close(&recording);
}

/* Too large: captures are thinned out from the past, the first and the last one stay. */
static void captures_are_thinned_out_by_size(void **state)
{
    const struct recorder_options options = {
        .every_ms = 5000, .max_bytes = 400 << 10, .host = "here", .version = "1"};
    struct recorder *recorder = open_ok(&options, 0);
    const uint32_t target = subject_ok(recorder, RECORDING_TARGET, 0, 0, "t");
    char *noise = malloc(40000);
    struct facts facts = {
        .schema = FACTS_SCHEMA, .target_name = noise, .target_cgroup = -1};
    struct recorder_state before;
    struct recorder_state after;
    struct recording recording;

    (void)state;
    assert_non_null(noise);
    srand(1);
    for (int i = 0; i < 40; i++) {
        for (int k = 0; k < 39999; k++) {
            noise[k] = (char)('!' + rand() % 90);
        }
        noise[39999] = '\0';
        assert_int_equal(recorder_add_capture(recorder, target, &facts, NULL), 0);
        commit_ok(recorder, i * 300);
    }
    recorder_get_state(recorder, &before);
    assert_true(before.file_bytes > options.max_bytes);
    assert_int_equal(recorder_retain(recorder, NULL), 0);
    recorder_get_state(recorder, &after);
    assert_true(after.file_bytes <= options.max_bytes);
    close_ok(recorder, 20000);
    open_reader(&recording);
    assert_int_equal(recording.tick_count, 40);
    assert_in_range(recording.capture_count, 4, 20);
    const struct recording_capture *captures = recording.captures;
    const size_t last = recording.capture_count - 1;
    assert_int_equal(captures[0].at_ms, recording.first_ms);
    assert_int_equal(captures[last].at_ms, recording.last_ms);
    assert_true(captures[1].at_ms - captures[0].at_ms >
                captures[last].at_ms - captures[last - 1].at_ms);
    recording_close(&recording);
    free(noise);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, remove_files)
    const struct CMUnitTest tests[] = {
        TEST(figures_come_back_at_every_tick),
        TEST(a_span_of_time_starts_in_the_middle),
        TEST(members_that_come_and_go),
        TEST(states_and_signs_survive),
        TEST(resumed_sessions_go_on_with_the_same_subjects),
        TEST(r_killed_recorder_loses_nothing_committed),
        TEST(time_goes_on_when_the_clock_jumps),
        TEST(captures_come_back_byte_for_byte),
        TEST(events_and_findings_have_the_time_of_their_tick),
        TEST(a_second_recorder_is_refused),
        TEST(files_that_are_no_recordings),
        TEST(damaged_ticks_are_left_out),
        TEST(old_ticks_go_and_the_rest_can_be_read),
        TEST(captures_are_thinned_out_by_size),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
