/*
 * present_pages.c - a cursor over the page map for readers that look at single pages.
 *
 * Looking at a page that is not present would change the target, and asking for each page by
 * itself would cost a system call; so bits are kept for a slice at a time.
 */
#include "facts/present_pages.h"

void present_pages_init(struct present_pages *pages, struct memory *memory)
{
    pages->memory = memory;
    pages->start = 0;
    pages->count = 0;
}

/* Loads the slice that begins with the first populated page from *address on; 0: none. */
static int load(struct present_pages *pages, uint64_t *address, uint64_t end)
{
    const uint64_t page = pages->memory->page_bytes;
    uint64_t start, stop;
    int result;

    if (!memory_next_populated(pages->memory, *address, end, &start, &stop)) {
        return 0;
    }
    if (start > *address) {
        *address = start / page * page;
    }
    const uint64_t left = (end - *address + page - 1) / page;
    pages->start = *address;
    pages->count = left < PRESENT_PAGES_SLICE ? (size_t)left : PRESENT_PAGES_SLICE;
    result = memory_present(pages->memory, *address, pages->count, pages->bits);
    if (result < 0) {
        pages->count = 0;
        return result;
    }
    return 1;
}

int present_pages_next(
    struct present_pages *pages, uint64_t address, uint64_t end, uint64_t *page)
{
    const uint64_t page_bytes = pages->memory->page_bytes;

    while (address < end) {
        const uint64_t index = (address - pages->start) / page_bytes;
        if (address < pages->start || index >= pages->count) {
            int result = load(pages, &address, end);
            if (result <= 0) {
                return result;
            }
            continue;
        }
        if ((pages->bits[index] & PAGE_PRESENT) != 0) {
            *page = address;
            return 1;
        }
        address += page_bytes;
    }
    return 0;
}
