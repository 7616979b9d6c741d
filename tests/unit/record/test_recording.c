/* test_recording.c - what a recorder stored is what a reader finds. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "record/capture.h"
#include "record/recording_capture.h"
#include "record/recording_cursor.h"
#include "recorded_file.h"

/* A process of which two figures move, over more ticks than a keyframe lasts. */
static void figures_come_back_at_every_tick(void **state)
{
    enum { TICKS = 700 };
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const size_t rss = recorded_metric(recorder, "process.vm_rss");
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    const uint32_t late = target + 2;
    struct recording recording;
    int64_t values[TICKS + 1];

    (void)state;
    const uint32_t first = recorded_subject(recorder, RECORDING_PROCESS, target, 10, "a");
    for (int i = 0; i < TICKS; i++) {
        recorded_put(recorder, first, rss, (uint64_t)(i * i % 1000) << (i % 50));
        if (i >= 300) {
            assert_int_equal(
                recorded_subject(recorder, RECORDING_PROCESS, target, 11, "b"), late);
            recorded_put(recorder, late, rss, 5);
        }
        recorded_commit(recorder, i * 5);
    }
    recorded_close(recorder, TICKS * 5);
    recorded_read(&recording);
    assert_int_equal(recording.tick_count, TICKS);
    assert_int_equal(
        recorded_values(&recording, first, "process.vm_rss", values, TICKS), TICKS);
    for (int i = 0; i < TICKS; i++) {
        assert_true(values[i] == (int64_t)((uint64_t)(i * i % 1000) << (i % 50)));
    }
    (void)recorded_values(&recording, late, "process.vm_rss", values, TICKS);
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
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const size_t rss = recorded_metric(recorder, "process.vm_rss");
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;

    (void)state;
    for (int i = 0; i < 600; i++) {
        recorded_put(recorder, target, rss, (uint64_t)i);
        recorded_commit(recorder, i * 5 + (i >= 400 ? 100 : 0));
    }
    recorded_close(recorder, 10000);
    recorded_read(&recording);
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
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    char name[] = "worker";
    struct process_facts one = {.pid = 5, .start_time_ticks = 1, .name = name};
    struct facts facts = {.processes = &one, .process_count = 1};
    struct recording recording;
    int64_t values[8];

    (void)state;
    one.values[PROCESS_FACT_VM_RSS] = (struct fact){.value = 100, .state = FACT_OK};
    assert_int_equal(recorder_put_facts(recorder, target, &facts), 0);
    const uint32_t first = recorder_process(recorder, target, &one);
    recorded_commit(recorder, 0);
    one.start_time_ticks = 2;
    assert_int_equal(recorder_put_facts(recorder, target, &facts), 0);
    const uint32_t second = recorder_process(recorder, target, &one);
    assert_int_not_equal(first, second);
    recorded_commit(recorder, 5);
    recorder_end_target(recorder, target);
    recorded_commit(recorder, 10);
    one.start_time_ticks = 2;
    assert_int_equal(recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t"), target);
    assert_int_equal(recorder_put_facts(recorder, target, &facts), 0);
    assert_int_equal(recorder_process(recorder, target, &one), second);
    recorded_commit(recorder, 15);
    recorded_close(recorder, 20);
    recorded_read(&recording);
    assert_int_equal(recorded_values(&recording, first, "process.vm_rss", values, 8), 4);
    assert_int_equal(values[0], 100);
    assert_int_equal(values[1], -1);
    assert_int_equal(recorded_values(&recording, second, "process.vm_rss", values, 8), 4);
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
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const size_t residual = recorded_metric(recorder, "layer.residual");
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    const struct fact facts[] = {{(uint64_t)-5, 0, FACT_OK}, {9, 0, FACT_DENIED},
        {UINT64_MAX / 2, 0, FACT_STALE}, {0, 0, FACT_OK}};
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;

    (void)state;
    for (int i = 0; i < 4; i++) {
        recorder_put(recorder, target, residual, &facts[i]);
        recorded_commit(recorder, i * 5);
    }
    recorded_close(recorder, 20);
    recorded_read(&recording);
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
        struct recorder *recorder = recorded_open(&recorded_usual, session * 100);
        const size_t rss = recorded_metric(recorder, "process.vm_rss");
        ids[session] = recorded_subject(recorder, RECORDING_PROCESS, 0, 10, "a");
        recorded_put(recorder, ids[session], rss, (uint64_t)session + 1);
        recorded_commit(recorder, session * 100);
        recorded_close(recorder, session * 100 + 5);
    }
    assert_int_equal(ids[0], ids[1]);
    recorded_read(&recording);
    assert_int_equal(recording.session_count, 2);
    assert_int_equal(recorded_values(&recording, ids[0], "process.vm_rss", values, 4), 2);
    assert_int_equal(values[0], 1);
    assert_int_equal(values[1], 2);
    recording_close(&recording);
}

/* The clock is set back by an hour, then ahead; time in the recording goes on. */
static void time_goes_on_when_the_clock_jumps(void **state)
{
    static const int64_t jumps_ms[] = {0, 0, -3600000, -3600000, 7200000};
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    struct recording recording;
    struct recording_cursor *cursor;
    struct recording_tick tick;
    struct error error = {0};
    int64_t last = INT64_MIN;

    (void)state;
    (void)recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    for (int i = 0; i < 5; i++) {
        struct moment now = recorded_moment(i * 5);
        now.wall_ms += jumps_ms[i];
        assert_int_equal(recorder_commit(recorder, &now, &error), 0);
    }
    recorded_close(recorder, 30);
    recorded_read(&recording);
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
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
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
        recorded_commit(recorder, i * 60);
    }
    recorded_close(recorder, 200);
    recorded_read(&recording);
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
    struct recorder *recorder = recorded_open(&recorded_usual, 0);
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
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
    recorded_commit(recorder, 0);
    assert_int_equal(recorder_add_event(recorder, 0, "clock", "it jumped"), 0);
    assert_int_equal(recorder_add_finding(recorder, &finding), 0);
    recorded_commit(recorder, 5);
    recorded_close(recorder, 10);
    recorded_read(&recording);
    assert_int_equal(recording.event_count, 1);
    assert_string_equal(recording.events[0].text, "it jumped");
    assert_int_equal(recording.events[0].at_ms, recording.first_ms + 5000);
    assert_int_equal(recording.finding_count, 1);
    assert_string_equal(recording.findings[0].summary, summary);
    assert_int_equal(recording.findings[0].high_bytes, 2);
    recording_close(&recording);
}

int main(void)
{
#define TEST(function) cmocka_unit_test_teardown(function, recorded_remove_file)
    const struct CMUnitTest tests[] = {
        TEST(figures_come_back_at_every_tick),
        TEST(a_span_of_time_starts_in_the_middle),
        TEST(members_that_come_and_go),
        TEST(states_and_signs_survive),
        TEST(resumed_sessions_go_on_with_the_same_subjects),
        TEST(time_goes_on_when_the_clock_jumps),
        TEST(captures_come_back_byte_for_byte),
        TEST(events_and_findings_have_the_time_of_their_tick),
    };

    return cmocka_run_group_tests(tests, recorded_make_folder, recorded_remove_folder);
}
