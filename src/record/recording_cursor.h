/* recording_cursor.h - walks the figures of a recording, tick by tick. */
#ifndef STRATA_RECORD_RECORDING_CURSOR_H
#define STRATA_RECORD_RECORDING_CURSOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "facts_types/fact.h"
#include "record/recording.h"

/* Walks the ticks of a span of time in order. */
struct recording_cursor;

struct recording_tick {
    int64_t at_ms;
    int64_t boot_ms; /* CLOCK_BOOTTIME, for ages of processes */
    bool after_gap;  /* something is missing before it: a pause, a restart, damage */
};

/* Ticks with from_ms <= at_ms <= to_ms. 0, or -ENOMEM or -errno with error set. */
int recording_cursor_open(const struct recording *recording, int64_t from_ms,
    int64_t to_ms, struct recording_cursor **cursor, struct error *error);
void recording_cursor_close(struct recording_cursor *cursor);

/*
 * 1 with the next tick, 0 at the end, -errno. Damaged ticks are left out up to the next whole
 * one, and counted.
 */
int recording_next(
    struct recording_cursor *cursor, struct recording_tick *tick, struct error *error);

/*
 * A figure at the tick where the cursor stands; absent when the subject did not live then or
 * has no such figure. plus_minus is 0. A layer's value is int64_t in two's complement.
 */
struct fact recording_value(
    const struct recording_cursor *cursor, uint32_t subject_id, int metric);

/* True when the subject has figures at this tick. */
bool recording_lives(const struct recording_cursor *cursor, uint32_t subject_id);

size_t recording_damaged_ticks(const struct recording_cursor *cursor);

#endif
