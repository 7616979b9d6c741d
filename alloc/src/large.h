/*
 * Blocks above STRATA__BLOCK_MAX: large ones are units of the unit heap, huge ones are
 * mappings of their own. Both are multiples of a page and start on one.
 */
#ifndef STRATA_LARGE_H
#define STRATA_LARGE_H

#include <stddef.h>
#include <stdint.h>

#include "unitmap.h"

/* Above it a block has a mapping of its own, and so has one above the second figure that
 * had to move while it grew: the next time the kernel moves it without copying. */
#define STRATA__LARGE_MAX_BYTES ((size_t)32 << 20)
#define STRATA__GROWN_MAX_BYTES ((size_t)1 << 20)

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

/* bytes > 0, alignment a power of two. *zeroed says whether the block reads as zeroes.
 * NULL when the system gives no memory. */
void *strata__large_alloc(size_t bytes, size_t alignment, int *zeroed);
/* As large_alloc, but always with a mapping of its own. */
void *strata__huge_alloc(size_t bytes, size_t alignment);
/* `entry` is the map's for `block` and of kind large or huge; anything but the start of a
 * block is fatal. */
void strata__large_free(void *block, uint64_t entry);
/* Where the block that an entry of these kinds stands for starts. */
const void *strata__large_start(uint64_t entry);
size_t strata__large_bytes(const void *block, uint64_t entry);
/* Fatal if the address, which no entry stands for, lies inside of a huge block or between
 * its guards. Looks at an entry for each 64 KiB of the longest huge block at most; takes
 * the lock. */
void strata__huge_refuse_inner(const void *address);
/* The block with at least `bytes`, moved only if it is huge; NULL when it must be copied,
 * and then nothing has changed. */
void *strata__large_resize(void *block, uint64_t entry, size_t bytes);

/* From now on every block has a mapping of its own between pages that may not be touched.
 * Before other threads use it. */
void strata__large_harden(void);

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

/* mremap onto the mapping at `to`, which it replaces; 0 or -errno. Tests replace it. */
extern int (*strata__large_move)(
    void *from, size_t old_bytes, void *to, size_t new_bytes);

#endif
