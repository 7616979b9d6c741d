/* present_pages.h - goes from one present page of a range to the next. */
#ifndef STRATA_FACTS_PRESENT_PAGES_H
#define STRATA_FACTS_PRESENT_PAGES_H

#include <stddef.h>
#include <stdint.h>

#include "facts/memory.h"

enum { PRESENT_PAGES_SLICE = 1024 };

/* A place in a range of addresses; the page map is asked a slice ahead. */
struct present_pages {
    struct memory *memory;
    uint64_t start; /* of the slice that bits holds */
    size_t count;
    uint8_t bits[PRESENT_PAGES_SLICE];
};

void present_pages_init(struct present_pages *pages, struct memory *memory);

/*
 * The first present page at or behind address, a page start, and below end. 1 with *page, 0
 * when there is none, or -errno. Ranges that were never populated are skipped. Ask with
 * ascending addresses.
 */
int present_pages_next(
    struct present_pages *pages, uint64_t address, uint64_t end, uint64_t *page);

#endif
