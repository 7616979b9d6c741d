/*
 * page_cache.c - a direct-mapped cache in front of memory_read_present().
 *
 * A link in a free list costs a system call of a microsecond; lists are short but there
 * may be hundreds of them, and a hostile list may lead anywhere. The cache makes neighbours
 * cheap and its budget bounds the rest. A list that leads from page to neighbouring page, as
 * one does when a program frees its blocks in order, is read ahead.
 */
#include "facts/page_cache.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

int page_cache_init(struct page_cache *cache, struct memory *memory, uint64_t misses)
{
    *cache = (struct page_cache){.memory = memory, .misses_left = misses};
    cache->addresses = malloc(PAGE_CACHE_SLOTS * sizeof(*cache->addresses));
    cache->data = malloc((size_t)PAGE_CACHE_SLOTS * PAGE_CACHE_PIECE_BYTES);
    if (cache->addresses == NULL || cache->data == NULL) {
        return -ENOMEM;
    }
    page_cache_reset(cache);
    return 0;
}

void page_cache_release(struct page_cache *cache)
{
    free(cache->addresses);
    free(cache->data);
    *cache = (struct page_cache){0};
}

void page_cache_reset(struct page_cache *cache)
{
    for (size_t i = 0; i < PAGE_CACHE_SLOTS; i++) {
        cache->addresses[i] = UINT64_MAX;
    }
}

/* Reads count pieces, of which the first has the address piece. */
static int load(struct page_cache *cache, uint64_t piece, size_t count)
{
    const size_t slot = piece / PAGE_CACHE_PIECE_BYTES % PAGE_CACHE_SLOTS;
    int result;

    for (size_t i = 0; i < count; i++) {
        cache->addresses[slot + i] = UINT64_MAX;
    }
    result = memory_read_present(cache->memory, piece,
        cache->data + slot * PAGE_CACHE_PIECE_BYTES, count * PAGE_CACHE_PIECE_BYTES);
    if (result < 0) {
        return result;
    }
    for (size_t i = 0; i < count; i++) {
        cache->addresses[slot + i] = piece + i * PAGE_CACHE_PIECE_BYTES;
    }
    return 0;
}

static int load_missed(struct page_cache *cache, uint64_t piece)
{
    const uint64_t ahead = PAGE_CACHE_AHEAD * PAGE_CACHE_PIECE_BYTES;
    const uint64_t last = cache->last_miss;
    const uint64_t distance = piece > last ? piece - last : last - piece;

    if (cache->misses_left == 0) {
        return -EBUSY;
    }
    cache->misses_left--;
    cache->last_miss = piece;
    /* An aligned group lies in consecutive slots; with a hole in it, one piece must do. */
    if (distance <= ahead && load(cache, piece / ahead * ahead, PAGE_CACHE_AHEAD) == 0) {
        return 0;
    }
    return load(cache, piece, 1);
}

int page_cache_word(struct page_cache *cache, uint64_t address, uint64_t *word)
{
    const uint64_t piece = address / PAGE_CACHE_PIECE_BYTES * PAGE_CACHE_PIECE_BYTES;
    const size_t slot = address / PAGE_CACHE_PIECE_BYTES % PAGE_CACHE_SLOTS;

    if (address % sizeof(*word) != 0) {
        return -EFAULT;
    }
    if (cache->addresses[slot] != piece) {
        int result = load_missed(cache, piece);
        if (result < 0) {
            return result;
        }
    }
    memcpy(word, cache->data + slot * PAGE_CACHE_PIECE_BYTES + (address - piece),
        sizeof(*word));
    return 0;
}
