/*
 * The central lists: slabs of one class each, with a bit for each free block outside of
 * the user's pages. Blocks leave and come back in batches.
 */
#ifndef STRATA_CENTRAL_H
#define STRATA_CENTRAL_H

#include <stddef.h>
#include <stdint.h>

#include "blockclass.h"

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

/* For fork: all classes in order. They rank above the unit heap. */
void strata__central_lock(void);
void strata__central_unlock(void);
void strata__central_reset_locks(void);

#endif
