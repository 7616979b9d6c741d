/*
 * Huge blocks of the ZEND layout: see zend_huge.c.
 */
#ifndef STRATA_ZEND_HUGE_H
#define STRATA_ZEND_HUGE_H

#include "heap_common.h"

/* A block of `bytes` (whole pages), counted. NULL: refused, and the failure is noted. */
void *strata__zend_huge_alloc(struct strata_heap *heap, size_t bytes, size_t alignment);
/* Fatal if the address is not that of a huge block; so do the two below. */
void strata__zend_huge_free(struct strata_heap *heap, void *block);
/* See strata__layout.resize. */
int strata__zend_huge_resize(struct strata_heap *heap, void *block, size_t new_bytes);
size_t strata__zend_huge_bytes(struct strata_heap *heap, const void *block);
/* Walks the huge blocks: *cursor starts as heap->zend.huge; NULL at the end. */
const void *strata__zend_huge_next(
    struct strata_heap *heap, const void **cursor, size_t *bytes);
/* Unmaps all; the figures are the caller's business. */
void strata__zend_huge_release(struct strata_heap *heap);

#endif
