/*
 * The figures of the whole malloc replacement: the sums over all parts, what reports show.
 */
#ifndef STRATA_FRONT_FIGURES_H
#define STRATA_FRONT_FIGURES_H

#include <stddef.h>

struct strata__front_stats {
    size_t in_use_bytes; /* of live blocks, rounded up to classes or pages */
    size_t in_use_blocks;
    size_t cached_bytes;   /* blocks that CPUs or the quarantine keep */
    size_t free_bytes;     /* pages that may be resident and hold no live block's bytes */
    size_t resident_bytes; /* the most that can be resident of user pages: the sum */
    size_t large_bytes;    /* part of in_use_bytes: blocks of whole pages */
    size_t large_blocks;
    size_t mapped_bytes;   /* address space of regions and huge blocks */
    size_t metadata_bytes; /* descriptors and tables; not in the sum */
};

/* Of a class, freed and not yet back in their slabs: CPUs keep them, or the quarantine. */
size_t strata__front_cached_blocks(unsigned class);
/* Exact when no other thread calls. */
void strata__front_get_stats(struct strata__front_stats *stats);
/* Peaks are from now on what is in use now. */
void strata__front_reset_peaks(void);
/* Recounts everything; a difference is fatal. */
void strata__front_check(void);

#endif
