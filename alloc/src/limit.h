/*
 * What the malloc replacement holds, and the limits on it (STRATA_LIMIT, STRATA_SOFT_LIMIT).
 *
 * Held are the pages that may be resident for blocks (in use, kept by CPUs, free), the
 * descriptors and the tables of the CPUs: to the byte the sum of resident_bytes and
 * metadata_bytes of struct strata__front_stats. Each level counts what it buys and gives
 * back; nothing is looked at on the fast paths, since they buy nothing.
 */
#ifndef STRATA_LIMIT_H
#define STRATA_LIMIT_H

#include <stddef.h>

/* 0: none. Before the first thread, or in tests. */
void strata__limit_set(size_t hard_bytes, size_t soft_bytes);
size_t strata__limit_hard(void); /* SIZE_MAX: none */

/* Counts `bytes` more. 0, or -ENOMEM, and nothing has changed, when that would be more
 * than the limit. Any thread, also under locks: it takes none. */
int strata__limit_buy(size_t bytes);
void strata__limit_return(size_t bytes);
size_t strata__limit_held(void);

/* True when more is held than the soft limit allows, and so much more than after the last
 * purge that another is worth its time. */
int strata__limit_wants_purge(void);
/* After a purge. Counts as one because of a limit if there is one. */
void strata__limit_purged(void);
/* A request got ENOMEM; counted if there is a hard limit. */
void strata__limit_count_refusal(void);
/* The kernel reported pressure, and memory was given back. */
void strata__limit_count_pressure(void);
/* The most that was held is from now on what is held now. */
void strata__limit_reset_peak(void);
/* Writes the figures to the region. */
void strata__limit_publish(void);

#endif
