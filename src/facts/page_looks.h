/* page_looks.h - which pages are present, as seen within the last millisecond. */
#ifndef STRATA_FACTS_PAGE_LOOKS_H
#define STRATA_FACTS_PAGE_LOOKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/pagemap.h"

enum {
    PAGE_LOOKS_BLOCKS = 32,
    PAGE_LOOKS_BLOCK_PAGES = 512, /* what one page table holds */
};

/* An aligned block of pages. */
struct page_look {
    uint64_t key; /* of its address; 0: none */
    uint64_t time_ns;
    bool is_whole; /* bits hold all of it; else it was only asked for */
    uint8_t bits[PAGE_LOOKS_BLOCK_PAGES];
};

/* Zeroes: nothing was seen. */
struct page_looks {
    struct page_look blocks[PAGE_LOOKS_BLOCKS];
};

/*
 * As pagemap_present(), for pages that lie in blocks which were seen whole less than
 * a millisecond ago from what was seen then.
 */
int page_looks_find(struct page_looks *looks, struct pagemap *pagemap, uint64_t address,
    size_t count, uint8_t *bits);

/* Nanoseconds that only go up. */
uint64_t page_looks_now(void);

/* What was seen at time_ns still holds. */
bool page_looks_is_fresh(uint64_t time_ns, uint64_t now_ns);

#endif
