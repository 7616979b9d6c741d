/* zend_free_lists.h - the free blocks of a quiet Zend MM heap, and what a collection gives. */
#ifndef STRATA_FACTS_ZEND_FREE_LISTS_H
#define STRATA_FACTS_ZEND_FREE_LISTS_H

#include "facts/zend_heap.h"

/*
 * Walks the free list of every bin of the heap that walk describes and fills the deep
 * fields of heap: free blocks by bin, and the effect of gc_mem_caches() on the returned
 * count, on real and on the resident set. 0, -EINVAL (a list leaves the heap or does not end:
 * the heap is in motion or damaged), -ENOMEM, or -errno of a read.
 */
int zend_free_lists_read(const struct zend_walk *walk, struct zend_heap_facts *heap);

#endif
