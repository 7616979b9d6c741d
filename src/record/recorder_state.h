/* recorder_state.h - what the parts of the recorder share. */
#ifndef STRATA_RECORD_RECORDER_STATE_H
#define STRATA_RECORD_RECORDER_STATE_H

#include <sqlite3.h>
#include <stdbool.h>

#include "base/buffer.h"
#include "base/region.h"
#include "facts_types/moment.h"
#include "record/recorder.h"
#include "record/tick_code.h"

/* A subject with figures, or one that just ended. */
struct recorder_subject {
    struct recorder_subject *next_in_bucket;
    struct recording_subject key; /* name and title are ours */
    struct tick_cell *stored;     /* as the file has them; NULL: none */
    struct tick_cell *current;    /* NULL: it has ended */
    bool known;                   /* its row is in the file */
    bool revived;                 /* its row says that it has ended */
    bool renamed;
    bool seen; /* by the reading that is being put in */
};

/* Rows that wait for the next commit. */
struct waiting_row {
    struct waiting_row *next;
    enum { WAITING_EVENT, WAITING_FINDING } kind;
    uint32_t subject;
    char *text[3]; /* event: kind, text; finding: rule, severity, summary */
    int32_t pid;
    bool predicts;
    uint64_t low_bytes;
    uint64_t high_bytes;
};

struct waiting_capture {
    struct waiting_capture *next;
    uint32_t target;
    size_t plain_bytes;
    struct buffer packed;
};

enum {
    RECORDER_BUCKETS = 4096,
    RECORDER_KEYFRAME_TICKS = 240,
    RECORDER_WAITING_BYTES = 16 << 20,
};

enum recorder_statement {
    INSERT_SUBJECT,
    RENAME_SUBJECT,
    END_SUBJECT,
    REVIVE_SUBJECT,
    FIND_SUBJECT,
    INSERT_METRIC,
    INSERT_TICK,
    INSERT_CAPTURE,
    INSERT_EVENT,
    INSERT_FINDING,
    UPDATE_LOST,
    RECORDER_STATEMENTS,
};

struct recorder {
    sqlite3 *database;
    sqlite3_stmt *statements[RECORDER_STATEMENTS];
    int lock_fd; /* holds the lock against a second recorder */
    char *path;
    struct recorder_options options;
    struct moment started;
    int64_t session;
    int64_t last_tick;
    int64_t last_subject;
    int ticks_since_keyframe; /* -1: the next is one */
    uint64_t ticks;
    uint64_t ticks_lost;
    uint64_t captures;
    /* metrics */
    char *metric_names[TICK_MAX_METRICS];
    size_t metric_count;
    size_t process_metrics[PROCESS_FACT_COUNT];    /* numbers of the facts of facts.def */
    bool process_metric_stays[PROCESS_FACT_COUNT]; /* read by deep readings only */
    size_t cgroup_metrics[CGROUP_FACT_COUNT];
    size_t host_metrics[HOST_FACT_COUNT];
    /* subjects, in the order of their numbers */
    struct recorder_subject **subjects;
    size_t subject_count;
    size_t subject_capacity;
    struct recorder_subject *buckets[RECORDER_BUCKETS];
    /* what waits */
    struct region waiting_region;
    struct waiting_row *first_row;
    struct waiting_row **last_row;
    struct waiting_capture *first_capture;
};

/* The subject with that number, or NULL. */
struct recorder_subject *recorder_find(const struct recorder *recorder, uint32_t id);

/* After a commit: what was current is stored, and the ended are forgotten. */
void recorder_settle(struct recorder *recorder);

/* True while path names the file that is recorded into, and no other and none. */
bool recorder_is_in_place(const struct recorder *recorder);

/* Frees all subjects. */
void recorder_end_all(struct recorder *recorder);

/* Forgets captures, and with rows the events and findings that wait. */
void recorder_drop_waiting(struct recorder *recorder, bool rows);

#endif
