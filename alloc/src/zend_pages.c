/*
 * Pages of the ZEND layout: over all chunks of the heap, with the purchase of a chunk
 * when none has room, and the gc which finds runs without a live block.
 *
 * The order of steps is Zend MM's (php-src 8.1.3, Zend/zend_alloc.c: zend_mm_alloc_pages
 * 822, free_pages 1094, zend_mm_gc 1897). Note that pages which gc frees inside chunks of
 * the ring are not searched again by the purchase that called it: only a cached chunk or
 * a lower real helps. Unlike stock up to 8.3, gc never deletes the main chunk.
 *
 * Invariant outside of gc and walks: the counters of free blocks in the map words of
 * small runs are zero.
 *
 * One thread at a time, as the heap.
 */
#include "zend_pages.h"

#include "free_list.h"
#include "page.h"

#define FRONT_STEPS 2U /* a chunk found after more steps than this ... */
#define FRONT_PAGES 8U /* ... for fewer pages moves to the front */

/* A chunk for `pages` pages, when no chunk of the ring has room. */
static struct strata__chunk *get_chunk(struct strata_heap *heap, uint32_t pages)
{
    size_t asked = (size_t)pages * STRATA__PAGE_BYTES;
    int collected_for_system = 0;
    struct strata__chunk *chunk = strata__chunk_reuse(&heap->zend.chunks);
    while (chunk == NULL) {
        if (!strata__account_fits(&heap->account, STRATA__CHUNK_BYTES) &&
            strata__zend_gc(heap) > 0) {
            chunk = strata__chunk_reuse(&heap->zend.chunks);
            continue;
        }
        if (!strata__heap_reserve(heap, STRATA__CHUNK_BYTES, asked)) {
            return NULL;
        }
        chunk = strata__chunk_buy(&heap->zend.chunks);
        if (chunk != NULL) {
            strata__account_commit(&heap->account, STRATA__CHUNK_BYTES);
            return chunk;
        }
        strata__account_cancel(&heap->account, STRATA__CHUNK_BYTES);
        if (collected_for_system || strata__zend_gc(heap) == 0) {
            strata__heap_fail(heap, STRATA_ERROR_SYSTEM, asked);
            return NULL;
        }
        collected_for_system = 1;
        chunk = strata__chunk_reuse(&heap->zend.chunks);
    }
    return chunk;
}

/* `first` begins a free run. If it is not the longest one known, that one stays; if it is,
 * others are looked at only when they have pages enough to matter. */
void strata__zend_mark_used(
    struct strata_heap *heap, struct strata__chunk *chunk, uint32_t first, uint32_t pages)
{
    strata__page_take(chunk, first, pages);
    heap->zend.chunks.free_pages -= pages;
    if (first == chunk->longest.first) {
        struct strata__free_run rest = {first + pages, chunk->longest.pages - pages};
        if (chunk->free_pages - rest.pages > rest.pages) {
            rest = strata__page_longest_free(chunk, rest);
        }
        strata__chunk_set_run(&heap->zend.chunks, chunk, rest);
    }
}

void strata__zend_mark_free(
    struct strata_heap *heap, struct strata__chunk *chunk, uint32_t first, uint32_t pages)
{
    strata__page_give(chunk, first, pages);
    heap->zend.chunks.free_pages += pages;
    uint32_t start = strata__page_free_start(chunk, first);
    uint32_t end = strata__page_next_used(chunk, first + pages);
    if (end - start > chunk->longest.pages) {
        struct strata__free_run run = {start, end - start};
        strata__chunk_set_run(&heap->zend.chunks, chunk, run);
    }
}

/* Takes `pages` pages in one chunk; the caller writes the map. NULL: refused. */
struct strata__chunk *strata__zend_take_pages(
    struct strata_heap *heap, uint32_t pages, uint32_t *first)
{
    struct strata__chunk_set *set = &heap->zend.chunks;
    struct strata__chunk *chunk = set->main;
    uint32_t steps = 0;
    *first = 0;
    for (;;) {
        if (chunk->free_pages >= pages) {
            *first = strata__page_search(chunk, pages);
            if (*first != 0) {
                break;
            }
        }
        if (chunk->next == set->main) {
            chunk = get_chunk(heap, pages);
            if (chunk == NULL) {
                return NULL;
            }
            *first = 1;
            break;
        }
        chunk = chunk->next;
        steps++;
    }
    if (steps > FRONT_STEPS && pages < FRONT_PAGES) {
        strata__chunk_to_front(set, chunk);
    }
    strata__zend_mark_used(heap, chunk, *first, pages);
    if (chunk->free_tail == *first) {
        chunk->free_tail = *first + pages;
    }
    return chunk;
}

/* Gives pages back to their chunk, and the chunk too if it is empty now. */
void strata__zend_give_pages(struct strata_heap *heap, struct strata__chunk *chunk,
    uint32_t first, uint32_t pages, int may_delete)
{
    strata__zend_mark_free(heap, chunk, first, pages);
    if (chunk->free_tail == first + pages) {
        chunk->free_tail = first;
    }
    if (may_delete && chunk->free_pages == STRATA__CHUNK_FREE_PAGES &&
        chunk != heap->zend.chunks.main) {
        strata__account_return(
            &heap->account, strata__chunk_delete(&heap->zend.chunks, chunk));
    }
}

/* The first page's map word of the run a free block lies in. */
static uint32_t *run_word(struct strata_heap *heap, const void *block)
{
    struct strata__chunk *chunk = strata__chunk_find(&heap->zend.chunks, block);
    if (chunk == NULL) {
        strata__heap_fatal(heap, "a free list leads out of it", block);
    }
    uint32_t page =
        (uint32_t)(((uintptr_t)block - (uintptr_t)chunk) >> STRATA__PAGE_BITS);
    uint32_t class = chunk->map[page] & STRATA__CLASS_MASK;
    if (strata__page_classes[class].magic == 0) {
        strata__heap_fatal(heap, "a free list leads to a page without blocks", block);
    }
    return &chunk->map[page - strata__page_classes[class].back_pages];
}

/* Counts the free blocks of each run of the bin in the runs' map words; returns whether
 * any run is free as a whole. */
int strata__zend_count_free(struct strata_heap *heap, unsigned bin)
{
    int complete = 0;
    void *block = strata__heap_first(heap, bin);
    while (block != NULL) {
        uint32_t *word = run_word(heap, block);
        *word += 1U << STRATA__CLASS_BITS;
        complete |=
            strata__page_word_value(*word) == strata__sizeclasses[bin].zend_blocks;
        block = strata__heap_next(heap, block);
    }
    return complete;
}

static void unlink_complete_runs(struct strata_heap *heap, unsigned bin)
{
    void *kept = NULL;
    void *block = strata__heap_first(heap, bin);
    while (block != NULL) {
        void *next = strata__heap_next(heap, block);
        if (strata__page_word_value(*run_word(heap, block)) !=
            strata__sizeclasses[bin].zend_blocks) {
            if (kept != NULL) {
                strata__heap_link(heap, kept, block);
            } else {
                strata__heap_set_first(heap, bin, block);
            }
            kept = block;
        }
        block = next;
    }
    if (kept != NULL) {
        strata__heap_link(heap, kept, NULL);
    } else {
        strata__heap_set_first(heap, bin, NULL);
    }
}

/* Frees the complete runs of one chunk and clears the counters of the others. */
static size_t collect_chunk(struct strata_heap *heap, struct strata__chunk *chunk)
{
    size_t collected = 0;
    uint32_t page = strata__page_next_used(chunk, 1);
    while (page < chunk->free_tail) {
        uint32_t word = chunk->map[page];
        uint32_t class = word & STRATA__CLASS_MASK;
        uint32_t pages = strata__page_word_value(word);
        if (class != STRATA__CLASS_LARGE) {
            unsigned bin = strata__page_classes[class].bin;
            uint32_t free_blocks = pages;
            pages = strata__sizeclasses[bin].zend_pages;
            chunk->map[page] = class;
            if (free_blocks == strata__sizeclasses[bin].zend_blocks) {
                strata__track_close(
                    strata__chunk_page(chunk, page), (size_t)pages * STRATA__PAGE_BYTES);
                strata__zend_give_pages(heap, chunk, page, pages, 0);
                collected += pages;
            }
        }
        page = strata__page_next_used(chunk, page + pages);
    }
    return collected;
}

size_t strata__zend_gc(struct strata_heap *heap)
{
    struct strata__chunk_set *set = &heap->zend.chunks;
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        if (strata__zend_count_free(heap, bin)) {
            unlink_complete_runs(heap, bin);
        }
    }
    size_t collected = 0;
    struct strata__chunk *chunk = set->main;
    do {
        struct strata__chunk *next = chunk->next;
        collected += collect_chunk(heap, chunk);
        if (chunk->free_pages == STRATA__CHUNK_FREE_PAGES && chunk != set->main) {
            strata__account_return(&heap->account, strata__chunk_delete(set, chunk));
        }
        chunk = next;
    } while (chunk != set->main);
    return collected * STRATA__PAGE_BYTES;
}
