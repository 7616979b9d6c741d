/*
 * Memory for the malloc replacement's own descriptors, apart from the user's pages.
 */
#ifndef STRATA_METADATA_H
#define STRATA_METADATA_H

#include <stddef.h>

/* The largest descriptor: a unit that many classes share. */
#define STRATA__METADATA_MAX ((size_t)1600)

/* Every descriptor has room for this much. */
#define STRATA__METADATA_LEAST ((size_t)64)

/* Not cleared; aligned to 64 bytes; NULL when the system gives no memory. */
void *strata__metadata_take(size_t bytes);
/* `bytes` as asked for. Kept for the next descriptor of that size. */
void strata__metadata_give(void *descriptor, size_t bytes);
/* A descriptor of at most `bytes` for a longer one of `old_bytes`: never NULL, whatever
 * other threads do. */
void *strata__metadata_exchange(void *descriptor, size_t old_bytes, size_t bytes);
/* Gives back mappings of descriptors of which none is in use, and none was when the last
 * sweep looked; with `now`, all of them. Returns the bytes of descriptors. */
size_t strata__metadata_sweep(int now);
/* What is cut off the mappings, in use or kept. */
size_t strata__metadata_bytes(void);
/* Writes that figure to the region; taking does it itself. */
void strata__metadata_publish(void);

/* For fork: rank below every other lock of the malloc replacement. */
void strata__metadata_lock(void);
void strata__metadata_unlock(void);
void strata__metadata_reset_lock(void);

#endif
