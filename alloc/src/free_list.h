/*
 * The free lists of a heap: link after link (link.h) from the bin's entry to the word
 * list_end. That word is no link, so that a fast alloc tells an empty list by the test which
 * it makes anyway; here the end is NULL.
 */
#ifndef STRATA_FREE_LIST_H
#define STRATA_FREE_LIST_H

#include "heap_common.h"

static inline void *strata__heap_list_end(const struct strata_heap *heap)
{
    return (void *)(uintptr_t)&heap->list_end;
}

/* The first block of a bin's list, or NULL. */
static inline void *strata__heap_first(const struct strata_heap *heap, unsigned bin)
{
    void *block = heap->free_lists[bin];
    return block == strata__heap_list_end(heap) ? NULL : block;
}

/* `block` or NULL: the bin's whole list from now on. */
static inline void strata__heap_set_first(
    struct strata_heap *heap, unsigned bin, void *block)
{
    heap->free_lists[bin] = block == NULL ? strata__heap_list_end(heap) : block;
}

/* Makes `next`, or NULL, the block after this one. */
static inline void strata__heap_link(
    const struct strata_heap *heap, void *block, const void *next)
{
    strata__link_write(
        heap->key, block, next == NULL ? strata__heap_list_end(heap) : next);
}

/* The block after this one on a free list, or NULL. */
static inline void *strata__heap_next(const struct strata_heap *heap, const void *block)
{
    uint64_t word = strata__link_read(block);
    if (__builtin_expect(!strata__link_valid(heap->key, word), 0)) {
        strata__heap_smashed(heap, block);
    }
    void *next = strata__link_decode(heap->key, word);
    return next == strata__heap_list_end(heap) ? NULL : next;
}

#endif
