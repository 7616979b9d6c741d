/*
 * Looking at a ZEND heap: the walk for tools, and the audit which recounts every figure.
 */
#ifndef STRATA_ZEND_INSPECT_H
#define STRATA_ZEND_INSPECT_H

#include "heap_common.h"

/* See strata_heap_walk. */
int strata__zend_walk(
    struct strata_heap *heap, strata_walk_visitor *visitor, void *context);
/* Fatal if a figure differs from what chunk headers, maps and lists say. */
void strata__zend_check(struct strata_heap *heap);

#endif
