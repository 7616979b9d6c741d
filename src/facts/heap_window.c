/*
 * heap_window.c - loads pieces of the target's memory for the heap walkers.
 *
 * Reading an absent anonymous page of another process maps the zero page there, which
 * makes page tables in the target and shows as present in its page map ever after
 * (mm/memory.c, do_anonymous_page). So each load asks the page map first and reads
 * runs of present pages only. A swapped page is absent here: reading it would bring it
 * back into memory.
 */
#include "facts/heap_window.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/* A piece of so many pages is looked at without asking whether it may be populated. */
enum { DIRECT_PAGES = 512 };

int heap_window_init(struct heap_window *window, struct memory *memory)
{
    *window =
        (struct heap_window){.memory = memory, .pages_left = heap_window_maximum_pages};
    window->data = malloc(HEAP_WINDOW_BYTES);
    window->bits = malloc(HEAP_WINDOW_BYTES / memory->page_bytes + 1);
    window->slice = malloc(HEAP_WINDOW_SLICE_PAGES);
    if (window->data == NULL || window->bits == NULL || window->slice == NULL) {
        return -ENOMEM;
    }
    return 0;
}

void heap_window_release(struct heap_window *window)
{
    free(window->data);
    free(window->bits);
    free(window->slice);
    *window = (struct heap_window){0};
}

static bool is_present(uint8_t bits)
{
    return (bits & PAGE_PRESENT) != 0;
}

/* One run of present pages; page by page when a part of it went away meanwhile. */
static int load_run(struct heap_window *window, size_t first, size_t count)
{
    const uint64_t page = window->memory->page_bytes;
    int result = memory_read(window->memory, window->start + first * page,
        window->data + first * page, count * page);

    if (result != -EFAULT) {
        return result;
    }
    for (size_t i = first; i < first + count; i++) {
        result = memory_read(
            window->memory, window->start + i * page, window->data + i * page, page);
        if (result == -EFAULT) {
            window->bits[i] = 0;
            memset(window->data + i * page, 0, page);
        } else if (result < 0) {
            return result;
        }
    }
    return 0;
}

int heap_window_load(struct heap_window *window, uint64_t address, uint64_t limit)
{
    const uint64_t page = window->memory->page_bytes;
    size_t count, i = 0;
    int result;

    window->start = address / page * page;
    window->end = window->start;
    if (limit <= address) {
        return 0;
    }
    count = limit - window->start > HEAP_WINDOW_BYTES
                ? HEAP_WINDOW_BYTES / page
                : (limit - window->start + page - 1) / page;
    result = memory_present(window->memory, window->start, count, window->bits);
    while (result == 0 && i < count) {
        const bool present = is_present(window->bits[i]);
        size_t run = 1;
        while (i + run < count && is_present(window->bits[i + run]) == present) {
            run++;
        }
        if (present) {
            result = load_run(window, i, run);
        } else {
            memset(window->data + i * page, 0, run * page);
        }
        i += run;
    }
    if (result < 0) {
        return result;
    }
    window->end = window->start + count * page;
    return 0;
}

/* The shared page of zeroes costs no memory: giving it back frees none. */
static uint64_t count_bits(const uint8_t *bits, size_t count)
{
    uint64_t resident = 0;

    for (size_t i = 0; i < count; i++) {
        resident += (bits[i] & (PAGE_PRESENT | PAGE_ZERO)) == PAGE_PRESENT;
    }
    return resident;
}

/* Counts [start, end), which may be populated, in slices. */
static int count_slices(
    struct heap_window *window, uint64_t start, uint64_t end, uint64_t *pages)
{
    const uint64_t page = window->memory->page_bytes;

    while (start < end) {
        size_t count = (end - start + page - 1) / page;
        int result;
        if (count > HEAP_WINDOW_SLICE_PAGES) {
            count = HEAP_WINDOW_SLICE_PAGES;
        }
        if (window->pages_left < count) {
            return -EBUSY;
        }
        window->pages_left -= count;
        result = memory_present(window->memory, start, count, window->slice);
        if (result < 0) {
            return result;
        }
        *pages += count_bits(window->slice, count);
        start += count * page;
    }
    return 0;
}

int heap_window_count_resident(
    struct heap_window *window, uint64_t start, uint64_t end, uint64_t *pages)
{
    const uint64_t page = window->memory->page_bytes;
    uint64_t from, to;

    *pages = 0;
    if (start >= window->start && end <= window->end && start < end) {
        *pages = count_bits(
            window->bits + (start - window->start) / page, (end - start) / page);
        return 0;
    }
    if (start < end && (end - start) / window->memory->page_bytes <= DIRECT_PAGES) {
        return count_slices(window, start, end, pages);
    }
    while (start < end && memory_next_populated(window->memory, start, end, &from, &to) &&
           to > start) {
        int result = count_slices(window, from, to < end ? to : end, pages);
        if (result < 0) {
            return result;
        }
        start = to;
    }
    return 0;
}
