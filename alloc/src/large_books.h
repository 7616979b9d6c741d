/*
 * The books of the blocks above STRATA__BLOCK_MAX, large and huge: the counters, the pages
 * behind large blocks, and which addresses lie inside of huge ones. One lock for all.
 */
#ifndef STRATA_LARGE_BOOKS_H
#define STRATA_LARGE_BOOKS_H

#include <stddef.h>

#include "units.h"

struct strata__large_stats {
    size_t large_bytes; /* of live blocks, whole pages */
    size_t large_blocks;
    size_t huge_bytes;
    size_t huge_blocks;
    size_t tail_bytes;        /* pages behind large blocks that may be resident */
    size_t large_asked_bytes; /* what the program asked for */
    size_t huge_asked_bytes;
    size_t peak_bytes;   /* most of large and huge since the last reset */
    size_t purged_bytes; /* of tails, so far */
};

/* Address space around a guarded block: whole units, so that no other block starts in
 * the unit where this one does. */
static inline size_t strata__huge_guarded_bytes(size_t bytes, unsigned guard_bits)
{
    return strata__units_of(((size_t)1 << guard_bits) + bytes + STRATA__PAGE_BYTES)
           << STRATA__UNIT_BITS;
}

/* Of a huge block's mapping, guards included. */
static inline char *strata__huge_mapping(const struct strata__span *span)
{
    return span->start - (span->guard_bits == 0 ? 0 : (size_t)1 << span->guard_bits);
}

static inline size_t strata__huge_mapping_bytes(const struct strata__span *span)
{
    return span->guard_bits == 0
               ? span->bytes
               : strata__huge_guarded_bytes(span->bytes, span->guard_bits);
}

/* Counts a block, of no units if it is huge, and puts it on the list if it has a tail. The
 * map has a huge one from now on. */
void strata__large_enter(struct strata__span *span);
/* Before the block's owner frees or resizes it. The map has a huge one no more. */
void strata__large_leave(struct strata__span *span);

/* Fatal if the address, which no entry stands for, lies inside of a huge block or between
 * its guards. Looks at each huge block; takes the lock. */
void strata__large_refuse_inner(const void *address);

/* Gives back the pages behind live blocks that the last sweep saw too; with `now`, all.
 * Returns the bytes given back. */
size_t strata__large_sweep(int now);

/* For fork; a rank of its own beside the unit heap's. */
void strata__large_lock(void);
void strata__large_unlock(void);
void strata__large_reset_lock(void);

/* Writes the figures to the region; whatever changes them does it itself. */
void strata__large_publish(void);
/* The most in use is from now on what it was last. */
void strata__large_reset_peak(void);
void strata__large_get_stats(struct strata__large_stats *out);

#endif
