/* timeline.h - a recording prepared for showing: plots, what happened, how it went. */
#ifndef STRATA_MODEL_TIMELINE_H
#define STRATA_MODEL_TIMELINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "model/course.h"

/* The value of a series where it has none. */
#define TIMELINE_MISSING INT64_MIN

/* How a series is drawn. */
enum timeline_role {
    TIMELINE_STACK, /* areas on top of one another, in the order of the series */
    TIMELINE_LINE,
    TIMELINE_LIMIT, /* a line that is not to be met */
};

struct timeline_series {
    const char *id; /* stable: "anon", "in_use" */
    const char *title;
    enum timeline_role role;
    int64_t *values; /* bytes, as many as the plot has times */
};

struct timeline_plot {
    const char *id; /* "kernel": each tick; "layers": each capture */
    const char *title;
    int64_t *times_ms; /* rising */
    size_t count;
    struct timeline_series *series;
    size_t series_count;
};

enum { TIMELINE_PLOTS = 2 };

struct timeline_subject {
    uint32_t id;
    uint32_t owner; /* 0: a target */
    int32_t pid;    /* 0: a target */
    const char *name;
    const char *title;
    int64_t first_ms;
    int64_t last_ms;
    bool ended;           /* before the end of the span */
    size_t members_most;  /* of a target: at one time */
    uint64_t first_bytes; /* resident */
    uint64_t peak_bytes;
    uint64_t median_bytes;
    uint64_t last_bytes;
    struct course course;
    struct timeline_plot plots[TIMELINE_PLOTS];
};

/* Something on the axis of time: a finding that appeared, a jump of the clock, a gap. */
struct timeline_mark {
    int64_t at_ms;
    uint32_t subject;     /* 0: of the recording */
    const char *kind;     /* "finding", "clock", "gone", "missing", "lost", "gap" */
    const char *severity; /* of a finding, else "" */
    const char *text;
};

/* A finding of the captures: the first and last one that had it. */
struct timeline_finding {
    uint32_t subject;
    int32_t pid;
    const char *rule;
    const char *severity; /* the gravest */
    const char *summary;  /* of the last */
    bool predicts;        /* of the last as well: what the change would give back */
    uint64_t low_bytes;
    uint64_t high_bytes;
    int64_t first_ms;
    int64_t last_ms;
    size_t count;
};

/* Immutable once built; strings and arrays belong to region. */
struct timeline {
    struct region region;
    const char *file;
    const char *host;
    const char *version;
    int64_t from_ms;
    int64_t to_ms;
    uint64_t every_ms;
    uint64_t ticks; /* within the span */
    uint64_t captures;
    uint64_t ticks_lost;
    uint64_t cpu_us;      /* of the recorder; 0: not known */
    uint64_t recorded_ms; /* that cpu_us was spread over */
    size_t damaged_ticks;
    struct timeline_subject *subjects; /* targets, each followed by its members */
    size_t subject_count;
    struct timeline_mark *marks; /* in the order of time */
    size_t mark_count;
    struct timeline_finding *findings;
    size_t finding_count;
};

#endif
