/*
 * Looking at a COMPACT heap: the walk for tools, and the audit which recounts every figure.
 */
#ifndef STRATA_COMPACT_INSPECT_H
#define STRATA_COMPACT_INSPECT_H

#include "heap_common.h"

/* See strata_heap_walk. */
int strata__compact_walk(
    struct strata_heap *heap, strata_walk_visitor *visitor, void *context);
/* Fatal if a figure differs from what page states, words and lists say. */
void strata__compact_check(struct strata_heap *heap);

#endif
