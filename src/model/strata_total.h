/* strata_total.h - strata's malloc in one or more processes, added up. */
#ifndef STRATA_MODEL_STRATA_TOTAL_H
#define STRATA_MODEL_STRATA_TOTAL_H

#include <stdint.h>

#include "facts_types/process_facts.h"

/* One kind of memory: slabs of small blocks, large blocks, huge blocks, free spans. */
struct strata_kind {
    uint64_t held_bytes;
    uint64_t in_use_bytes;
    uint64_t cached_bytes;
    uint64_t free_bytes;    /* held - in use - cached */
    uint64_t touched_bytes; /* pages that may be resident, by the allocator's books */
};

/*
 * Sums over the processes whose figures could be read. rounding_small_bytes is an estimate
 * from sampled requests; the account knows sizes of blocks, not what was asked for. Only
 * processes whose pages could be seen (unseen counts the others) are in what is resident.
 */
struct strata_total {
    uint64_t processes;
    uint64_t unread; /* that have a region which could not be read */
    uint64_t unseen;
    uint64_t plus_minus_bytes;
    struct strata_kind small;
    struct strata_kind large;
    struct strata_kind huge;
    struct strata_kind spans;
    struct strata_kind all;
    uint64_t in_use_blocks;
    uint64_t huge_blocks;
    uint64_t descriptor_bytes;
    uint64_t table_bytes;
    uint64_t purged_bytes;
    uint64_t rounding_large_bytes; /* exact: large and huge blocks less what was asked */
    uint64_t rounding_small_bytes;
    uint64_t slab_tail_bytes;
    uint64_t sampled_requests;
    uint64_t resident_bytes;
    uint64_t free_resident_bytes;
};

/* Adds one process to total, which starts zeroed. */
void strata_total_add(struct strata_total *total, const struct strata_facts *facts);
/*
 * What a class holds in slabs of its own; what of its blocks lies in the units that all
 * classes share is added to shared. Which of a class's blocks CPUs keep is not known: those
 * in slabs count first. The kinds of all classes and the shared one sum to small blocks.
 */
struct strata_kind strata_class_kind(
    const struct strata_class_facts *class, struct strata_kind *shared);
/* The shared units, after all classes were asked. */
struct strata_kind strata_shared_kind(
    const struct strata_facts *facts, const struct strata_kind *shared);

#endif
