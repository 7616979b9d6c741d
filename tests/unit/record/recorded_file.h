/*
 * recorded_file.h - one recording in a folder of the test's own: what has to succeed does, or the
 * test fails. Times are in seconds from the first moment on.
 */
#ifndef STRATA_TESTS_RECORDED_FILE_H
#define STRATA_TESTS_RECORDED_FILE_H

#include <stddef.h>
#include <stdint.h>

#include "record/recorder.h"
#include "record/recorder_commit.h"
#include "record/recorder_facts.h"
#include "record/recorder_open.h"
#include "record/recording.h"

extern char recorded_path[64];
extern const struct recorder_options recorded_usual; /* a tick every 5 s */

/* For cmocka: of the group, and after each test. */
int recorded_make_folder(void **state);
int recorded_remove_folder(void **state);
int recorded_remove_file(void **state);

struct moment recorded_moment(int64_t seconds);

struct recorder *recorded_open(const struct recorder_options *options, int64_t seconds);
void recorded_commit(struct recorder *recorder, int64_t seconds);
void recorded_close(struct recorder *recorder, int64_t seconds);
uint32_t recorded_subject(struct recorder *recorder, enum recording_kind kind,
    uint32_t owner, int32_t pid, const char *name);
size_t recorded_metric(struct recorder *recorder, const char *name);
void recorded_put(
    struct recorder *recorder, uint32_t subject, size_t metric, uint64_t value);

void recorded_read(struct recording *recording);

/* The values of a metric at all ticks, -1 where it is absent. */
size_t recorded_values(const struct recording *recording, uint32_t subject,
    const char *name, int64_t *values, size_t maximum);

#endif
