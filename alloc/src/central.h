/*
 * The central lists: slabs of one class each, with a bit for each free block outside of
 * the user's pages. Blocks leave and come back in batches.
 */
#ifndef STRATA_CENTRAL_H
#define STRATA_CENTRAL_H

#include <stddef.h>
#include <stdint.h>

#include "blockclass.h"

/* All but out_blocks only for classes with slabs of their own. */
struct strata__class_stats {
    size_t slabs;
    size_t out_blocks;      /* outside of the central lists: in use, or kept by a CPU */
    size_t free_blocks;     /* in slabs */
    size_t touched_bytes;   /* pages of slabs that may be resident */
    size_t metadata_bytes;  /* descriptors of the slabs */
    size_t peak_out_blocks; /* since the last reset */
    size_t purged_bytes;    /* pages given back so far */
    size_t sampled_requests;
    size_t sampled_bytes;
};

/* At most `wanted` blocks of a class, lowest address first from the fullest slabs; as many
 * as one slab's purchase gives. 0 when the system gives no memory. */
size_t strata__central_refill(unsigned class, void **blocks, size_t wanted);
/* One block on a multiple of the alignment, a power of two from 32 on which, with the block,
 * is not above STRATA__BLOCK_MAX; for classes from STRATA__SLAB_CLASSES on. */
size_t strata__central_take_aligned(unsigned class, void **block, size_t alignment);
/* Takes blocks of a class back. A block which is free, or an address inside of a block,
 * is fatal. */
void strata__central_flush(unsigned class, void *const *blocks, size_t count);
/* Fatal unless a block that starts at `address`, in a slab of `class`, is handed out. */
void strata__central_verify(unsigned class, const void *address);

/* From now on blocks are taken at random places, and what is free in this class now reads
 * as zeroes. Before other threads use it. */
void strata__central_harden(unsigned class);

/* Gives back the pages of partly used slabs and units on which every block is free, and was when
 * the last sweep looked; with `now`, all that are free. Returns the bytes given back. */
size_t strata__central_sweep(int now);

/* A request for `bytes` found no block kept by its CPU: a sample of what is asked for.
 * Samples of threads that come at once may be lost. */
void strata__central_sample(unsigned class, size_t bytes);
/* Writes the figures of a class to the region; flush, refill and sweep do it themselves. */
void strata__central_publish(unsigned class);
/* The most blocks out is from now on what it was last. */
void strata__central_reset_peak(unsigned class);

void strata__central_get_stats(unsigned class, struct strata__class_stats *stats);
/* Recounts from the bitmaps; a difference is fatal. */
void strata__central_check(void);

/* For fork: all classes in order. They rank above the unit heap. */
void strata__central_lock(void);
void strata__central_unlock(void);
void strata__central_reset_locks(void);

#endif
