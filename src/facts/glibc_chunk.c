/*
 * glibc_chunk.c - what a chunk may be besides a block in use: one in a list that was not followed,
 * fence posts (sysmalloc() in malloc/malloc.c), the cache of a thread.
 */
#include "facts/glibc_chunk.h"

enum {
    SIZE_OFFSET = 8,
    LINK_OFFSET = GLIBC_CHUNK_HEADER_BYTES,
    FENCE_BYTES = GLIBC_CHUNK_HEADER_BYTES,
    SIZE_BITS = 64,
};

uint64_t glibc_chunk_hidden_bytes(
    const struct glibc_walk *walk, const uint8_t *chunk, uint64_t address, uint64_t size)
{
    const uint64_t units = size / GLIBC_CHUNK_ALIGN;
    uint64_t stored, next;

    if (units >= SIZE_BITS || (walk->hidden_sizes >> units & 1) == 0) {
        return 0;
    }
    stored = glibc_word(chunk + LINK_OFFSET);
    next = glibc_plain_link(walk->reader->layout, address + LINK_OFFSET, stored);
    return stored == 0 || next == 0 ||
                   (next % GLIBC_CHUNK_ALIGN == 0 && next >= walk->lowest &&
                       next < walk->highest)
               ? size
               : 0;
}

uint64_t glibc_chunk_fence_bytes(const struct glibc_walk *walk, uint64_t size)
{
    const uint64_t left = walk->extent.end - walk->position.at;

    if (walk->extent.has_top || (size != 0 && size != FENCE_BYTES)) {
        return 0;
    }
    return left == FENCE_BYTES || (left == 2 * FENCE_BYTES && size != 0) ? left : 0;
}

bool glibc_chunk_is_foreign_break(const struct glibc_walk *walk, const uint8_t *chunk)
{
    const struct heap_window *window = &walk->reader->window;
    const uint8_t *end = window->data + (window->end - window->start);
    const uint64_t fence = FENCE_BYTES | GLIBC_PREV_IN_USE;

    /* The lower one also tells whether the chunk below is free. */
    return walk->extent.has_top && walk->arena == walk->reader->main_arena &&
           chunk + 2 * FENCE_BYTES <= end &&
           (glibc_word(chunk + SIZE_OFFSET) & ~(uint64_t)GLIBC_SIZE_BITS) ==
               FENCE_BYTES &&
           glibc_word(chunk + FENCE_BYTES + SIZE_OFFSET) == fence;
}

void glibc_chunk_take_tcache(struct glibc_walk *walk, const uint8_t *chunk)
{
    struct glibc_position *position = &walk->position;
    const struct glibc_tcache_layout *tcache = &walk->reader->layout->tcache;
    const uint8_t *counts = chunk + GLIBC_CHUNK_HEADER_BYTES;
    const uint8_t *end = walk->reader->window.data +
                         (walk->reader->window.end - walk->reader->window.start);

    if (counts + sizeof(uint64_t) <= end) {
        for (size_t i = 0; i < sizeof(uint64_t); i += tcache->count_bytes) {
            const uint32_t count = tcache->count_bytes == 1
                                       ? counts[i]
                                       : counts[i] + ((uint32_t)counts[i + 1] << 8);
            if (count > walk->reader->tcache_limit) {
                return;
            }
        }
    }
    if (position->tcache_count < GLIBC_MAXIMUM_TCACHES) {
        walk->reader->tcaches[position->tcache_count++] = position->at;
    }
}
