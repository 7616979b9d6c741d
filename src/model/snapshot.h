/* snapshot.h - facts put in order: layers, what each consists of, and what is left over. */
#ifndef STRATA_MODEL_SNAPSHOT_H
#define STRATA_MODEL_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts_types/facts.h"

/* The layers, from the application down to the bill. Spelling in layer_names. */
enum layer_id {
    LAYER_TRACKED,
    LAYER_IN_USE,
    LAYER_HELD,
    LAYER_FREE_RESIDENT,
    LAYER_NEVER_TOUCHED,
    LAYER_RESIDENT,
    LAYER_PSS,
    LAYER_UNIQUE,
    LAYER_EXCLUSIVE,
    LAYER_CHARGED,
    LAYER_RESIDUAL,
    LAYER_COUNT,
};

extern const char *const layer_names[LAYER_COUNT]; /* "tracked", "in_use", ... */

/*
 * A named share of a layer. When a layer has parts, they sum to its bytes, exactly, and
 * none is zero. All ids are in model/part_table.c.
 */
struct part {
    const char *id;    /* stable, for machines: "glibc-in-use" */
    const char *title; /* for people: "malloc: blocks in use" */
    uint64_t bytes;
    bool estimate; /* by exclusion or proportion, not by recognising content */
};

/* What the bytes of a layer are to the true number, where one can tell. */
enum layer_bound {
    BOUND_NONE,
    BOUND_AT_MOST,  /* the truth may be less: shared pages were counted for each user */
    BOUND_AT_LEAST, /* it may be more: a share of shared pages, or not of all members */
};

/*
 * bytes is signed since the residual may be negative (parts overlap, or facts moved
 * while they were read). Only FACT_OK and FACT_STALE carry bytes.
 */
struct layer {
    enum layer_id id;
    enum fact_state state;
    int64_t bytes;
    uint64_t plus_minus_bytes;
    enum layer_bound bound;
    const char *source; /* which facts it was computed from; or why it is missing */
    struct part *parts; /* largest first */
    size_t part_count;
};

struct process_view {
    const struct process_facts *facts;
    struct layer layers[LAYER_COUNT];
};

/* The same cgroup as each tool would print it, in bytes; see docs/glossary.md. */
struct container_view {
    const struct cgroup_facts *facts; /* NULL: the target has no cgroup of its own */
    struct fact docker; /* usage - inactive_file, with docker's own fall-through on v1 */
    struct fact docker_19; /* docker up to 19.03: usage - cache */
    struct fact kubelet;   /* working set: usage - inactive_file, never below 0 */
    struct fact podman;    /* usage */
    struct fact
        non_reclaimable; /* usage - file + shmem + file_dirty + writeback - slab_reclaimable */
    struct fact limit;    /* hard: the smallest of the cgroup's own and its ancestors' */
    struct fact headroom; /* limit - usage */
};

/* Immutable once built; borrows facts, which must live longer. */
struct snapshot {
    struct region region;
    const struct facts *facts;
    struct layer layers[LAYER_COUNT]; /* of the whole target */
    struct process_view *members;     /* as facts->processes, same order */
    size_t member_count;
    struct container_view container;
    uint64_t rss_sum_bytes; /* over the members: overstates what they share */
};

/*
 * Builds the snapshot of facts. Pure: same facts, same snapshot; no I/O, no clock. 0 or
 * -ENOMEM; on failure the snapshot needs no release.
 */
int snapshot_build(const struct facts *facts, struct snapshot *snapshot);
void snapshot_release(struct snapshot *snapshot);

/* The bytes of a layer as an unsigned number, or 0 with *known false when it has none. */
uint64_t layer_bytes(const struct layer *layer, bool *known);

/* The bytes of the part with that id; 0 when the layer has no such part. */
uint64_t layer_part_bytes(const struct layer *layer, const char *id);

#endif
