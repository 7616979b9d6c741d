/*
 * glibc_holes.c - finds the large free chunks of an arena before it is walked.
 *
 * A walk loads memory ahead of the headers that it follows, and most of what it loads in vain
 * lies inside free chunks: in eight arenas that never rest, 50 of 120 MB. The bins are sorted by
 * size (malloc/malloc.c, largebin_index()), so that the last ones hold all large chunks and
 * nothing else; each costs one small read.
 *
 * Nothing is concluded from a hole. A walk that comes to an address inside of one loads that as
 * any other, so a list that is torn, or was true a moment ago, costs time only.
 */
#include "facts/glibc_holes.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/glibc_attempt.h"

enum { SIZE_OFFSET = 8, FORWARD = 1, WORDS = 2 };

struct search {
    struct glibc_holes *holes;
    struct glibc_reader *reader;
    uint64_t lowest;
    uint64_t highest;
    uint64_t bytes_left; /* more cannot be free: a list that has them is a ring */
};

void glibc_holes_release(struct glibc_holes *holes)
{
    free(holes->items);
    *holes = (struct glibc_holes){0};
}

/* The words from the size of chunk on. 0; -ENODATA: it cannot be one; or -errno. */
static int read_chunk(const struct search *search, uint64_t chunk, uint64_t *words)
{
    if (chunk % GLIBC_CHUNK_ALIGN != 0 || chunk < search->lowest ||
        chunk >= search->highest || search->reader->links_left == 0) {
        return -ENODATA;
    }
    search->reader->links_left--;
    return memory_read_present(
        search->reader->memory, chunk + SIZE_OFFSET, words, WORDS * sizeof(*words));
}

/* Follows one bin. 1: it has large chunks only; 0: it has not, or cannot be followed; -errno. */
static int follow(struct search *search, uint64_t head, uint64_t chunk)
{
    const uint64_t page = search->reader->memory->page_bytes;
    struct glibc_holes *holes = search->holes;

    while (chunk != head && holes->count < GLIBC_HOLES_MAXIMUM) {
        uint64_t words[WORDS] = {0};
        int result = read_chunk(search, chunk, words);
        const uint64_t size = words[0] & ~(uint64_t)GLIBC_SIZE_BITS;
        if (result < 0) {
            return glibc_is_about_content(result) ? 0 : result;
        }
        if (size < GLIBC_HOLE_BYTES || size > search->highest - chunk ||
            size > search->bytes_left) {
            return 0;
        }
        search->bytes_left -= size;
        holes->items[holes->count++] = (struct glibc_hole){
            .start = glibc_align_up(chunk + GLIBC_CHUNK_HEADER_BYTES, page),
            .end = glibc_align_down(chunk + size, page)};
        chunk = words[FORWARD];
    }
    return 1;
}

static int compare_holes(const void *left, const void *right)
{
    const struct glibc_hole *a = left, *b = right;

    return (a->start > b->start) - (a->start < b->start);
}

int glibc_holes_find(struct glibc_holes *holes, struct glibc_reader *reader,
    uint64_t address, const uint8_t *state, uint64_t lowest, uint64_t highest)
{
    struct search search = {.holes = holes,
        .reader = reader,
        .lowest = lowest,
        .highest = highest,
        .bytes_left = highest - lowest};
    int result = 1;

    holes->count = 0;
    if (holes->items == NULL) {
        holes->items = malloc(GLIBC_HOLES_MAXIMUM * sizeof(*holes->items));
        if (holes->items == NULL) {
            return -ENOMEM;
        }
    }
    for (uint32_t i = GLIBC_BIN_COUNT; i > 0 && result == 1; i--) {
        const uint64_t offset =
            reader->layout->state.bins + (uint64_t)(i - 1) * GLIBC_BIN_BYTES;
        result = follow(&search, address + offset - GLIBC_CHUNK_HEADER_BYTES,
            glibc_word(state + offset));
    }
    qsort(holes->items, holes->count, sizeof(*holes->items), compare_holes);
    return result < 0 ? result : 0;
}

uint64_t glibc_holes_next(const struct glibc_holes *holes, uint64_t address, uint64_t end)
{
    size_t low = 0, high = holes->count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (holes->items[middle].start <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < holes->count && holes->items[low].start < end ? holes->items[low].start
                                                               : end;
}
