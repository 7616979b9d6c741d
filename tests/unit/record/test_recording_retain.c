/* test_recording_retain.c - what goes when a recording is old or large, and what stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "record/recorder_retain.h"
#include "recorded_file.h"

static void old_ticks_go_and_the_rest_can_be_read(void **state)
{
    const struct recorder_options options = {
        .every_ms = 5000, .keep_ms = 500 * 5000, .host = "here", .version = "1"};
    struct recorder *recorder = recorded_open(&options, 0);
    const size_t rss = recorded_metric(recorder, "process.vm_rss");
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
    struct recording recording;
    int64_t values[1500];

    (void)state;
    for (int i = 0; i < 1500; i++) {
        recorded_put(recorder, target, rss, (uint64_t)i);
        if (i == 0) {
            assert_int_equal(recorder_add_event(recorder, 0, "start", "old"), 0);
        }
        recorded_commit(recorder, i * 5);
    }
    assert_int_equal(recorder_retain(recorder, NULL), 0);
    recorded_close(recorder, 9000);
    recorded_read(&recording);
    assert_in_range(recording.tick_count, 500, 500 + 241);
    assert_int_equal(recording.event_count, 0);
    const size_t count =
        recorded_values(&recording, target, "process.vm_rss", values, 1500);
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
    struct recorder *recorder = recorded_open(&options, 0);
    const uint32_t target = recorded_subject(recorder, RECORDING_TARGET, 0, 0, "t");
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
        recorded_commit(recorder, i * 300);
    }
    recorder_get_state(recorder, &before);
    assert_true(before.file_bytes > options.max_bytes);
    assert_int_equal(recorder_retain(recorder, NULL), 0);
    recorder_get_state(recorder, &after);
    assert_true(after.file_bytes <= options.max_bytes);
    recorded_close(recorder, 20000);
    recorded_read(&recording);
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
#define TEST(function) cmocka_unit_test_teardown(function, recorded_remove_file)
    const struct CMUnitTest tests[] = {
        TEST(old_ticks_go_and_the_rest_can_be_read),
        TEST(captures_are_thinned_out_by_size),
    };

    return cmocka_run_group_tests(tests, recorded_make_folder, recorded_remove_folder);
}
