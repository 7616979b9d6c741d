/*
 * recorded_file.c - the recorder and the reader, for tests that expect no failure of either.
 *
 * The file has a new name for each program and is removed after each test, with what SQLite puts
 * beside it.
 */
#include "recorded_file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h>

#include "record/recording_cursor.h"

static char folder[] = "/tmp/strata-recording-XXXXXX";
char recorded_path[64];

const struct recorder_options recorded_usual = {
    .every_ms = 5000, .host = "here", .version = "1"};

int recorded_make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(recorded_path, sizeof(recorded_path), "%s/r.db", folder);
    return 0;
}

int recorded_remove_file(void **state)
{
    static const char *const ends[] = {"", "-wal", "-shm"};

    (void)state;
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char name[80];
        (void)snprintf(name, sizeof(name), "%s%s", recorded_path, ends[i]);
        (void)unlink(name);
    }
    return 0;
}

int recorded_remove_folder(void **state)
{
    (void)state;
    return rmdir(folder);
}

struct moment recorded_moment(int64_t seconds)
{
    struct moment moment = {.wall_ms = INT64_C(1700000000000) + seconds * 1000,
        .boot_ms = 50000 + seconds * 1000,
        .boot_id = "first boot"};

    return moment;
}

struct recorder *recorded_open(const struct recorder_options *options, int64_t seconds)
{
    const struct moment now = recorded_moment(seconds);
    struct recorder *recorder;
    struct error error = {0};

    if (recorder_open(recorded_path, options, &now, &recorder, &error) != 0) {
        fail_msg("%s", error.text);
    }
    return recorder;
}

void recorded_commit(struct recorder *recorder, int64_t seconds)
{
    const struct moment now = recorded_moment(seconds);
    struct error error = {0};

    if (recorder_commit(recorder, &now, &error) != 0) {
        fail_msg("%s", error.text);
    }
}

void recorded_close(struct recorder *recorder, int64_t seconds)
{
    const struct moment now = recorded_moment(seconds);

    assert_int_equal(recorder_close(recorder, &now, 1234, NULL), 0);
}

uint32_t recorded_subject(struct recorder *recorder, enum recording_kind kind,
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

void recorded_put(
    struct recorder *recorder, uint32_t subject, size_t metric, uint64_t value)
{
    const struct fact fact = {.value = value, .state = FACT_OK};

    recorder_put(recorder, subject, metric, &fact);
}

size_t recorded_metric(struct recorder *recorder, const char *name)
{
    size_t metric;

    assert_int_equal(recorder_metric(recorder, name, "bytes", &metric), 0);
    return metric;
}

void recorded_read(struct recording *recording)
{
    struct error error = {0};

    if (recording_open(recorded_path, recording, &error) != 0) {
        fail_msg("%s", error.text);
    }
}

size_t recorded_values(const struct recording *recording, uint32_t subject,
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
