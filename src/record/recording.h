/* recording.h - reads what `strata record` wrote: figures over time, captures, findings. */
#ifndef STRATA_RECORD_RECORDING_H
#define STRATA_RECORD_RECORDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/region.h"

/* What a row of figures is about. */
enum recording_kind {
    RECORDING_TARGET,  /* what was asked for: layers of all members together */
    RECORDING_PROCESS, /* a member; (boot, pid, start) identifies it */
    RECORDING_CGROUP,
    RECORDING_HOST,
    RECORDING_KIND_COUNT,
};

/* "target", "process", "cgroup", "host" */
extern const char *const recording_kind_names[RECORDING_KIND_COUNT];

/*
 * Times (at_ms) are milliseconds since 1970 by the clock as it stood at the last tick of
 * the same boot, so they never go backwards, whatever the clock did meanwhile; its jumps are
 * events.
 */
struct recording_subject {
    uint32_t id; /* 1 and up; gaps are possible */
    uint32_t kind;
    uint32_t owner; /* of a member and a cgroup: id of its target; else 0 */
    int32_t pid;    /* of a member, else 0 */
    uint64_t start_ticks;
    char *name;  /* comm, target as it was asked for, path of a cgroup; any bytes */
    char *title; /* of a member; kind of a target: "pool"; may be "" */
    bool ended;  /* its last figures are final */
};

struct recording_metric {
    char *name; /* "process.vm_rss", "cgroup.usage", "layer.in_use", "service.requests" */
    char *unit; /* "bytes", "count" or "us"; layers are signed */
};

struct recording_session {
    int64_t first_ms;
    int64_t last_ms; /* of its last tick */
    uint64_t every_ms;
    uint64_t ticks_lost; /* could not be stored: a full disk */
    uint64_t cpu_us;     /* what recording took, 0 when it was killed */
    bool ended;          /* cleanly */
    char *host;
    char *version; /* of strata */
};

struct recording_capture {
    int64_t id;
    int64_t at_ms;
    uint32_t subject; /* its target */
    uint64_t plain_bytes;
    uint64_t stored_bytes;
};

/* A finding as the recorder's own rules saw it; the captures allow to judge again. */
struct recording_finding {
    int64_t at_ms;
    uint32_t subject;
    int32_t pid;
    char *rule;
    char *severity;
    char *summary;
    bool predicts;
    uint64_t low_bytes;
    uint64_t high_bytes;
};

/* Something that happened: "start", "end", "new", "exit", "clock", "lost", "missing". */
struct recording_event {
    int64_t at_ms;
    uint32_t subject; /* 0: of the recording */
    char *kind;
    char *text;
};

/* Lists are in the order of time; strings live as long as the recording. */
struct recording {
    struct region region;
    struct recording_session *sessions;
    size_t session_count;
    struct recording_metric
        *metrics; /* index: the metric argument of recording_value() */
    size_t metric_count;
    struct recording_subject *subjects;
    size_t subject_count;
    struct recording_capture *captures;
    size_t capture_count;
    struct recording_finding *findings;
    size_t finding_count;
    struct recording_event *events;
    size_t event_count;
    int64_t first_ms; /* of all ticks; 0 and 0 when there is none */
    int64_t last_ms;
    uint64_t tick_count;
    struct recording_file *file; /* private */
};

/*
 * Opens the recording at path; a recorder may be writing to it: what it has committed by now
 * is seen. 0, -EINVAL (not a recording, or damaged), -EPROTO (newer schema), -ENODATA
 * (nothing in it yet), -EFBIG, -ENOMEM or -errno, with error set and nothing to close.
 */
int recording_open(const char *path, struct recording *recording, struct error *error);
void recording_close(struct recording *recording);

/* True when the file at path begins like a database, so that it is meant as a recording. */
bool recording_looks_like(const char *path);

/* Index of a metric by its name, or -1: this recording has no such figures. */
int recording_metric(const struct recording *recording, const char *name);

/* The subject with that id, or NULL. */
const struct recording_subject *recording_subject(
    const struct recording *recording, uint32_t id);

#endif
