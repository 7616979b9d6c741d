/* The figures of the central lists: shown, sampled, and compared with a recount. */
#ifndef STRATA_CENTRAL_FIGURES_H
#define STRATA_CENTRAL_FIGURES_H

#include <stddef.h>

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

/* A request for `bytes` found no block kept by its CPU: a sample of what is asked for.
 * Samples of threads that come at once may be lost. */
void strata__central_sample(unsigned class, size_t bytes);
/* Under the lock of class `number`, when something in it has changed: writes its figures to the
 * region. */
void strata__central_show(unsigned number);
/* The same without the lock; flush, refill and sweep do it themselves. */
void strata__central_publish(unsigned class);
/* The most blocks out is from now on what it was last. */
void strata__central_reset_peak(unsigned class);

void strata__central_get_stats(unsigned class, struct strata__class_stats *stats);
/* Recounts from the bitmaps; a difference is fatal. */
void strata__central_check(void);

#endif
