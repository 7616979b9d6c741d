/*
 * glibc_gap.c - takes up the thread of chunks again.
 *
 * Two windows are of different moments; where a block was split or merged in between, the
 * chunk that the first one promised is not there in the second. Chunks tile a heap, so any
 * place from which a row of sizes leads on, each with bits and footers that fit, is
 * the start of a chunk again: user data that looks like sixteen chunks in a row is no
 * accident, and whoever forges it gains a wrong figure of his own memory.
 */
#include "facts/glibc_gap.h"

enum { SIZE_OFFSET = 8, ROW = 16, LEAST_ROW = 3, FENCE_POSTS_BYTES = 32 };

/* A row of chunks begins at address, or reaches stop from there. */
static bool begins_row(const struct heap_window *window, uint64_t address, uint64_t stop)
{
    uint64_t at = address, size = 0;

    for (int count = 0; count < ROW; count++, at += size) {
        const uint8_t *chunk = window->data + (at - window->start);
        uint64_t header;
        if (at == stop) {
            return true;
        }
        if (at > stop) {
            return false;
        }
        if (stop - at <= FENCE_POSTS_BYTES) {
            return count >= LEAST_ROW;
        }
        if (at >= window->end || window->end - at < GLIBC_CHUNK_HEADER_BYTES) {
            return count >= LEAST_ROW;
        }
        header = glibc_word(chunk + SIZE_OFFSET);
        if ((header & (GLIBC_IS_MMAPPED | 8)) != 0 ||
            ((header & GLIBC_PREV_IN_USE) == 0 && count > 0 &&
                glibc_word(chunk) != size)) {
            return false;
        }
        size = header & ~(uint64_t)GLIBC_SIZE_BITS;
        if (size < GLIBC_CHUNK_MINIMUM_BYTES || size > glibc_maximum_bytes) {
            return false;
        }
    }
    return true;
}

uint64_t glibc_gap_end(const struct heap_window *window, uint64_t address, uint64_t stop,
    uint64_t *places_left)
{
    for (uint64_t at = address; at < window->end && at < stop; at += GLIBC_CHUNK_ALIGN) {
        if (*places_left == 0) {
            return 0;
        }
        --*places_left;
        if (begins_row(window, at, stop)) {
            return at;
        }
    }
    return 0;
}
