/*
 * Pages of the ZEND layout, over all chunks of a heap: see zend_pages.c.
 */
#ifndef STRATA_ZEND_PAGES_H
#define STRATA_ZEND_PAGES_H

#include "heap_common.h"

/* Takes `pages` pages (1 to 511) in one chunk, which it buys if need be; the caller writes
 * the map. NULL: refused, and the failure is noted. */
struct strata__chunk *strata__zend_take_pages(
    struct strata_heap *heap, uint32_t pages, uint32_t *first);
/* Gives pages back to their chunk and, if it may, an empty chunk back to the set. */
void strata__zend_give_pages(struct strata_heap *heap, struct strata__chunk *chunk,
    uint32_t first, uint32_t pages, int may_delete);
/* Marks pages of a chunk and counts them in the set; no more: neither the map nor free_tail
 * nor the account. */
void strata__zend_mark_used(struct strata_heap *heap, struct strata__chunk *chunk,
    uint32_t first, uint32_t pages);
void strata__zend_mark_free(struct strata_heap *heap, struct strata__chunk *chunk,
    uint32_t first, uint32_t pages);
/* Frees the runs which hold no live block. Returns their bytes. */
size_t strata__zend_gc(struct strata_heap *heap);
/* Adds the free blocks of the bin to the counters in the map words of their runs; returns
 * whether a run is free as a whole. The caller has to clear the counters. */
int strata__zend_count_free(struct strata_heap *heap, unsigned bin);

#endif
