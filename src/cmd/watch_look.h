/* watch_look.h - the last good look inside of one watched target. */
#ifndef STRATA_CMD_WATCH_LOOK_H
#define STRATA_CMD_WATCH_LOOK_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "cmd/account.h"
#include "facts/root.h"
#include "model/glibc_total.h"
#include "present/metrics.h"

/*
 * Immutable once made, and shared by threads: whoever keeps one holds a reference. Facts and
 * parts of a target may be large, so they are kept only where asked for (full).
 */
struct watch_look {
    atomic_uint references;
    uint64_t taken_ns; /* monotonic, when the reading began */
    uint64_t wall_ns;  /* how long reading and judging took */
    uint64_t cpu_ns;   /* of it, processor time of ours */
    size_t processes;  /* members that were read */
    bool denied;       /* the mappings of no member could be read */
    bool complete;     /* no fact is denied, gone, stale or malformed, frames apart */
    struct layer layers[LAYER_COUNT]; /* without parts and sources */
    struct glibc_total glibc;
    struct metrics_sizing sizing;
    struct finding_list list;
    bool full;
    struct account account; /* when full: list above is empty, this has it */
};

/* Where the processes of a row stand in the facts of the host. */
struct watch_members {
    const char *name;
    const struct process_facts *processes;
    size_t count;
    const char *root; /* NULL: the live system */
    bool ask_nobody;  /* as in facts_root */
};

/*
 * Reads the members as explain would, judges them, keeps what is needed. The caller owns one
 * reference. 0 or -errno.
 */
int watch_look_take(
    const struct watch_members *members, bool full, struct watch_look **result);

struct watch_look *watch_look_hold(struct watch_look *look);
void watch_look_drop(struct watch_look *look); /* NULL is allowed */

/* The findings, wherever they are kept. */
const struct finding_list *watch_look_findings(const struct watch_look *look);

/* Monotonic time. */
uint64_t watch_now_ns(void);

/* Processor time of the calling thread. */
uint64_t watch_cpu_ns(void);

#endif
