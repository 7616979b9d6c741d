/*
 * Small runs of the COMPACT layout: each knows its own free blocks, so that a run whose
 * blocks are all free goes back at once. See slab.c.
 */
#ifndef STRATA_SLAB_H
#define STRATA_SLAB_H

#include "heap_common.h"

/* Takes all free blocks of a run with some; the first is returned, the others become the
 * bin's list. NULL if no run has any. */
void *strata__slab_take_partial(struct strata_heap *heap, unsigned bin);
/* Makes `first` the first page of a run of the bin; as above. */
void *strata__slab_start_run(struct strata_heap *heap, unsigned bin, uint32_t first);
/* Returns a list of one bin's blocks to their runs; runs which are free as a whole are
 * given to the range. */
void strata__slab_return(struct strata_heap *heap, void *list);
/* Is the block on its run's own list? */
int strata__slab_holds_free(struct strata_heap *heap, const void *block, unsigned bin);
/* First page of the run which contains the address, or 0 if it is on no small run. */
uint32_t strata__slab_run_of(const struct strata_heap *heap, const void *address);
/* Free blocks on the run's own list, as its word says and as the list has it. */
uint32_t strata__slab_free_blocks(const struct strata_heap *heap, uint32_t first);
uint32_t strata__slab_count_list(struct strata_heap *heap, uint32_t first);

static inline unsigned strata__slab_class(uint32_t word)
{
    uint32_t class = word & STRATA__CLASS_MASK;
    return class == STRATA__CLASS_TINY ? STRATA__CLASS_SMALL : class;
}

#endif
