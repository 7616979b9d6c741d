/* glibc_mmapped.h - the blocks that malloc took by mmap, one by one. */
#ifndef STRATA_FACTS_GLIBC_MMAPPED_H
#define STRATA_FACTS_GLIBC_MMAPPED_H

#include "facts/glibc_reader.h"

/*
 * Looks for the blocks in anonymous mappings, adds each to the spans of the process, and
 * fills mmapped_found_bytes and mmapped_resident_bytes of its glibc facts. The sum is exact
 * when it equals mp_.mmapped_mem; else it is stale by the difference. 0, -ENOMEM or -errno
 * of the memory.
 */
int glibc_mmapped_read(struct glibc_reader *reader);

/* The bytes that a block taken by mmap has at address, a page start; 0: there is none. */
uint64_t glibc_mmapped_block(struct glibc_reader *reader, uint64_t address, uint64_t end);

#endif
