/* glibc_tcache.h - blocks that wait in the caches of threads, in use for their arenas. */
#ifndef STRATA_FACTS_GLIBC_TCACHE_H
#define STRATA_FACTS_GLIBC_TCACHE_H

#include "facts/glibc_reader.h"

/*
 * Judges the chunks that the walks remembered as possible caches, and sums up what the real
 * ones hold: tcaches and tcache_bytes of the glibc facts, cached_bytes and cached_chunks of
 * the arenas that own the blocks. A cache that is empty cannot be told from other zeroes
 * before 2.42 and is not counted. 0, -ENOMEM or -errno of the memory.
 */
int glibc_tcache_read(struct glibc_reader *reader);

#endif
