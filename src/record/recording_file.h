/* recording_file.h - what the parts of the reader share of an open recording. */
#ifndef STRATA_RECORD_RECORDING_FILE_H
#define STRATA_RECORD_RECORDING_FILE_H

#include <sqlite3.h>

#include "record/recording.h"

/* A session's clock: at_ms = boot_ms + offset_ms. */
struct recording_clock {
    int64_t id;
    int64_t offset_ms;
};

struct recording_keyframe {
    int64_t tick;
    int64_t at_ms;
};

struct recording_file {
    sqlite3 *database;
    char *path;
    struct recording_clock *clocks; /* as recording->sessions */
    struct recording_keyframe *keyframes;
    size_t keyframe_count;
    uint32_t last_subject; /* the highest id */
};

/* Bounds of lists in a file that is not trusted. */
enum {
    RECORDING_MAX_SESSIONS = 100000,
    RECORDING_MAX_EVENTS = 1 << 20,
    RECORDING_MAX_REGION_BYTES = 1 << 30,
};

#endif
