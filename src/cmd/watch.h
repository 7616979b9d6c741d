/* watch.h - a host watched in the background: rows of the overview, and looks inside of them. */
#ifndef STRATA_CMD_WATCH_H
#define STRATA_CMD_WATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "cmd/watch_look.h"
#include "present/metrics.h"
#include "present/overview.h"

/* What one row is. */
enum watch_rows {
    WATCH_SERVICES,  /* as in the overview */
    WATCH_NAMES,     /* services with the same name, pool and unit are one row */
    WATCH_PROCESSES, /* each process */
};

struct watch_options {
    const char *root; /* NULL: the live system; must live as long */
    bool ask_nobody;  /* as in facts_root */
    enum watch_rows rows;
    uint64_t every_ns; /* the clock of the looks at the host */
    size_t most;       /* rows that are looked into; the largest come first */
    /* A thread that has looked inside of a target sleeps this many times as long as it took. */
    unsigned rest;
};

/* Counts since the start; only upwards, but for the two durations. */
struct watch_counts {
    uint64_t host_looks;
    uint64_t host_failures;
    uint64_t looks;
    uint64_t
        failures[FACT_STATE_COUNT]; /* looks that failed, by what the target's state is */
    uint64_t cpu_ns;                /* processor time of all looks */
    uint64_t host_wall_ns;          /* of the last look at the host */
    uint64_t look_wall_ns;          /* of the last look inside of a target */
};

/* One row as it is known now. All is borrowed from the moment. */
struct watch_row {
    struct metrics_labels labels;
    const char *key;                  /* names the row over time */
    const struct overview_row *plain; /* from the look at the host */
    struct watch_look *look;          /* the last one inside; NULL: none yet */
};

struct watch;

/* What is known at one moment; changes no more until it is released. */
struct watch_moment {
    const struct overview *overview; /* NULL: the host has not been read yet */
    struct watch_row *rows;          /* all rows of the overview, in its order */
    size_t count;
    uint64_t host_taken_ns; /* monotonic */
    uint64_t sequence;      /* grows with each look that was stored */
    struct watch_counts counts;
    struct watch *watch; /* for the release, with the next */
    struct watch_view *view;
};

/*
 * Starts watching in two threads of its own: one for the host, one for looks inside, so
 * that a slow target holds up neither the rows nor the caller. 0 or -errno with error set.
 */
int watch_start(
    const struct watch_options *options, struct watch **result, struct error *error);

/* The same without threads: watch_update() does the work when it is called. */
int watch_open(
    const struct watch_options *options, struct watch **result, struct error *error);

/* One look at the host and one inside each of the rows that are due. 0 or -errno. */
int watch_update(struct watch *watch);

/* The sequence that a moment taken now would have. */
uint64_t watch_sequence(struct watch *watch);

/* Never waits for a target. 0 or -ENOMEM; release after 0. */
int watch_take(struct watch *watch, struct watch_moment *moment);
void watch_moment_release(struct watch_moment *moment);

/* The row with that key is looked into first, and keeps its facts; NULL: none. */
void watch_focus(struct watch *watch, const char *key);

/* Every row is due at once, the host as well. */
void watch_hurry(struct watch *watch);

/* While paused nothing is read. */
void watch_pause(struct watch *watch, bool paused);

/*
 * Ends the threads. One that is stuck in a target is left to the end of the process: false, and
 * the program must end by exit_beside_threads().
 */
bool watch_stop(struct watch *watch);

#endif
