/* group_layers.h - the layers of several processes together. */
#ifndef STRATA_MODEL_GROUP_LAYERS_H
#define STRATA_MODEL_GROUP_LAYERS_H

#include "base/region.h"
#include "model/process_layers.h"
#include "model/snapshot.h"

/* Sums over the members seen so far; start from all zero. */
struct group_sums {
    struct heap_amounts heap;
    struct amounts rss;
    struct amounts pss;
    uint64_t plus_minus_bytes[LAYER_COUNT];
    size_t known[LAYER_COUNT]; /* members that have the layer */
    size_t stale[LAYER_COUNT];
    size_t partitioned; /* members whose Rss and Pss are divided */
    uint64_t conflict_bytes;
    uint64_t pss_bytes; /* by smaps or smaps_rollup */
    uint64_t rss_bytes;
    uint64_t rss_largest_bytes;
};

/* Adds one member whose layers are built. */
void group_sums_add(struct group_sums *sums, const struct process_view *view,
    const struct process_sums *process);

/*
 * Fills the layers of the whole target from the sums over its members. Address space
 * counts add up (in use, held, free, untouched). Resident memory does not: it is the
 * unique frames, else the sum of Pss, else a sum of Rss that says what it is.
 * 0 or -ENOMEM.
 */
int group_layers_build(
    struct region *region, const struct group_sums *sums, struct snapshot *snapshot);

#endif
