/* recording_time.h - a moment of a recording as people type it. */
#ifndef STRATA_CMD_RECORDING_TIME_H
#define STRATA_CMD_RECORDING_TIME_H

#include <stdint.h>

/*
 * Reads text as milliseconds since 1970 within a recording that lasts from first_ms to
 * last_ms. "14:05" or "14:05:10": the last such time of day in it; "2026-11-30T14:05" with
 * or without seconds and "Z", a blank instead of T; "-10m": before its end, "+10m": after
 * its start. Without Z local time. 0, -EINVAL: no time; -ERANGE: outside, by more than the
 * minute that was named.
 */
int recording_time_parse(
    const char *text, int64_t first_ms, int64_t last_ms, int64_t *at_ms);

#endif
