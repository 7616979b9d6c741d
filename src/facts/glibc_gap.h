/* glibc_gap.h - finds chunks again where a heap changed under the walk. */
#ifndef STRATA_FACTS_GLIBC_GAP_H
#define STRATA_FACTS_GLIBC_GAP_H

#include "facts/glibc_reader.h"

/*
 * The first place from address on, in what the window shows, from which chunk follows chunk
 * far enough to be no chance, in a heap whose chunks end at stop; 0: none. Places are
 * counted down in *places_left, which bounds the search.
 */
uint64_t glibc_gap_end(const struct heap_window *window, uint64_t address, uint64_t stop,
    uint64_t *places_left);

#endif
