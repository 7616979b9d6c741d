/*
 * page_looks.c - the page map is asked for a block at a time, and not again at once.
 *
 * A request for a block of 512 pages costs 6 us, for one page 1 us (PAGEMAP_SCAN, Linux 6.18). Readers
 * that go through memory, and those that follow links within it, ask for a block again and
 * again; a reader that looks at single places does not. So the first small question is asked as it
 * is, and the next one in the same block for all of it.
 *
 * What was seen is used for a millisecond and no longer. Between any look and the read after it
 * a page may go away; the reader may lose the processor in between for longer than that.
 */
#include "facts/page_looks.h"

#include <string.h>
#include <time.h>

enum {
    FRESH_NS = 1000 * 1000,
    WALK_PAGES = 16, /* whoever asks for so many at once will ask for those behind */
    NS_IN_SECOND = 1000 * 1000 * 1000,
};

uint64_t page_looks_now(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * NS_IN_SECOND + (uint64_t)now.tv_nsec;
}

bool page_looks_is_fresh(uint64_t time_ns, uint64_t now_ns)
{
    return now_ns - time_ns < FRESH_NS;
}

/* Pages [first, first + count) of one block. */
static int find_in_block(struct page_looks *looks, struct pagemap *pagemap,
    uint64_t number, size_t first, size_t count, uint8_t *bits)
{
    struct page_look *look = &looks->blocks[number % PAGE_LOOKS_BLOCKS];
    const uint64_t start = number * PAGE_LOOKS_BLOCK_PAGES * pagemap->page_bytes;
    const uint64_t now_ns = page_looks_now();
    const bool is_known =
        look->key == number + 1 && page_looks_is_fresh(look->time_ns, now_ns);

    if (!is_known || !look->is_whole) {
        look->key = number + 1;
        look->time_ns = now_ns;
        look->is_whole = is_known || count >= WALK_PAGES;
        if (!look->is_whole) {
            return pagemap_present(
                pagemap, start + first * pagemap->page_bytes, count, bits);
        }
        int rc = pagemap_present(pagemap, start, PAGE_LOOKS_BLOCK_PAGES, look->bits);
        if (rc != 0) {
            look->key = 0;
            return rc;
        }
    }
    memcpy(bits, look->bits + first, count);
    return 0;
}

int page_looks_find(struct page_looks *looks, struct pagemap *pagemap, uint64_t address,
    size_t count, uint8_t *bits)
{
    uint64_t page = address / pagemap->page_bytes;

    while (count > 0) {
        const size_t first = (size_t)(page % PAGE_LOOKS_BLOCK_PAGES);
        const size_t left = PAGE_LOOKS_BLOCK_PAGES - first;
        const size_t step = count < left ? count : left;
        int rc = find_in_block(
            looks, pagemap, page / PAGE_LOOKS_BLOCK_PAGES, first, step, bits);
        if (rc != 0) {
            return rc;
        }
        page += step;
        bits += step;
        count -= step;
    }
    return 0;
}
