/*
 * Helpers of the two layouts' walks: class totals, and the visit of one item.
 */
#ifndef STRATA_WALK_H
#define STRATA_WALK_H

#include <strata/heap_walk.h>

#include "sizeclass.h"

struct strata__walk {
    strata_walk_visitor *visitor;
    void *context;
    int without_lists; /* count blocks on a bin's lists as live (much faster) */
    size_t runs[STRATA__BINS];
    size_t run_bytes[STRATA__BINS];
    size_t blocks[STRATA__BINS];
    size_t live_blocks[STRATA__BINS];
};

/* Each returns 0 or what the visitor returned. */
int strata__walk_visit(struct strata__walk *walk, enum strata_walk_kind kind,
    const void *address, size_t bytes, size_t resident_bytes);
int strata__walk_small_run(struct strata__walk *walk, unsigned bin, const void *address,
    size_t bytes, size_t live_blocks);
/* One item for each class seen. */
int strata__walk_classes(struct strata__walk *walk);

#endif
