/* heap_window.h - a moving view of the target's memory that never touches absent pages. */
#ifndef STRATA_FACTS_HEAP_WINDOW_H
#define STRATA_FACTS_HEAP_WINDOW_H

#include <stddef.h>
#include <stdint.h>

#include "facts/memory.h"

enum {
    HEAP_WINDOW_BYTES =
        256 * 1024, /* stays in the second-level cache while it is walked */
    HEAP_WINDOW_SLICE_PAGES = 16 * 1024,
};

/*
 * data holds the bytes of [start, end); pages that were absent when it was loaded read as
 * zero. bits holds enum page_bits of the same pages. One buffer is reused for every load.
 */
struct heap_window {
    struct memory *memory;
    uint64_t start;
    uint64_t end;
    uint8_t *data;
    uint8_t *bits;
    uint8_t *slice;      /* page bits outside the view, while they are counted */
    uint64_t pages_left; /* that may still be counted */
};

/* 1 TiB of memory that may be populated; beyond it only a forged heap goes. */
static const uint64_t heap_window_maximum_pages = UINT64_C(1) << 28;

/* 0 or -ENOMEM. heap_window_release() may be called after either. */
int heap_window_init(struct heap_window *window, struct memory *memory);
void heap_window_release(struct heap_window *window);

/*
 * Loads [address rounded down to a page, at most HEAP_WINDOW_BYTES further, limit rounded
 * up). Pages that vanish while they are read count as absent. 0, or -errno when the
 * target cannot be read at all; the view is then empty.
 */
int heap_window_load(struct heap_window *window, uint64_t address, uint64_t limit);

/*
 * Pages of [start, end), both multiples of the page size, that are in memory and not the
 * page of zeroes; from the view where it covers them, else from the page map. 0; -EBUSY when
 * heap_window_maximum_pages have been looked at in all; or -errno.
 */
int heap_window_count_resident(
    struct heap_window *window, uint64_t start, uint64_t end, uint64_t *pages);

#endif
