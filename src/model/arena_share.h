/* arena_share.h - the resident part of one arena, divided into blocks, free and top. */
#ifndef STRATA_MODEL_ARENA_SHARE_H
#define STRATA_MODEL_ARENA_SHARE_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/glibc_facts.h"
#include "model/budget.h"
#include "model/partition.h"

/* What is resident of one arena's heaps, gathered over the mappings. */
struct arena_share {
    uint64_t rss_bytes;
    uint64_t pss_bytes;
    bool estimate;
};

/* Adds at most bytes of the budget to the share. */
void arena_share_add(
    struct arena_share *share, struct budget *budget, uint64_t bytes, bool estimate);

/* Moves all of the share into parts of the partition, by the facts on its arena. */
void arena_share_divide(struct arena_share *share, const struct glibc_arena *arena,
    struct partition *partition);

#endif
