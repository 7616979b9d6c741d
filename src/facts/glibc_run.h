/* glibc_run.h - runs of free chunks, while a heap is walked. */
#ifndef STRATA_FACTS_GLIBC_RUN_H
#define STRATA_FACTS_GLIBC_RUN_H

#include "facts/glibc_walk.h"

/*
 * [start, end), which lies above all that was told before, is free, or will be once fast bins
 * are merged. 0 or -errno of the memory.
 */
int glibc_run_extend(struct glibc_walk *walk, uint64_t start, uint64_t end);

/* Closes the run of free chunks seen last and adds it to the sums. The same errors. */
int glibc_run_close(struct glibc_walk *walk);

#endif
