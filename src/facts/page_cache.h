/* page_cache.h - single words of the target's memory, with the last pages kept. */
#ifndef STRATA_FACTS_PAGE_CACHE_H
#define STRATA_FACTS_PAGE_CACHE_H

#include <stdint.h>

#include "facts/memory.h"

enum {
    PAGE_CACHE_SLOTS = 256,
    PAGE_CACHE_PIECE_BYTES = 4096,
    PAGE_CACHE_AHEAD = 16, /* pieces read at once when links lead to neighbours */
};

/*
 * For following links, where neighbours are often on one page. A direct-mapped cache of
 * pieces of PAGE_CACHE_PIECE_BYTES (a page is a multiple of it). Nothing expires by itself:
 * page_cache_reset() before each reading that must be fresh.
 */
struct page_cache {
    struct memory *memory;
    uint64_t *addresses; /* of the piece in each slot; UINT64_MAX: none */
    uint8_t *data;
    uint64_t last_miss;   /* piece that was missed last */
    uint64_t misses_left; /* reads that may still be made */
};

/*
 * At most misses reads are ever made. 0 or -ENOMEM; page_cache_release() may be called after
 * either.
 */
int page_cache_init(struct page_cache *cache, struct memory *memory, uint64_t misses);
void page_cache_release(struct page_cache *cache);

/* Forgets what was read; the budget stays as it is. */
void page_cache_reset(struct page_cache *cache);

/*
 * The word at address, a multiple of 8. 0; -EFAULT for an address that is not one;
 * -ENODATA when the page is absent; -EBUSY when no more may be read; or -errno of the memory.
 */
int page_cache_word(struct page_cache *cache, uint64_t address, uint64_t *word);

#endif
