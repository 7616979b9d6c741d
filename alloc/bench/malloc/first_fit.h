/*
 * An allocator on paper: where blocks would lie if each went to the lowest place that is
 * long enough, in granules of 16 bytes, without headers and without any granule lost.
 */
#ifndef STRATA_ALLOC_BENCH_MALLOC_FIRST_FIT_H
#define STRATA_ALLOC_BENCH_MALLOC_FIRST_FIT_H

#include <stddef.h>
#include <stdint.h>

#define FIRST_FIT_GRANULE ((size_t)16)

/* Half a GiB of free addresses. */
void first_fit_start(void);
/* The first granule of the block; ends the program when there is no room. */
size_t first_fit_take(size_t granules);
void first_fit_give(size_t first, size_t granules);

#endif
