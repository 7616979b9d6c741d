/*
 * Looking at a ZEND heap: walk and audit. The audit is a walk whose visitor adds up.
 *
 * A small run's live blocks are its blocks less those on the bin's free list, which are
 * counted into the map words first (as gc does) and cleared again at the end.
 *
 * One thread at a time, as the heap. No step below this one calls up to it: only
 * strata_heap_walk, tests and the debug hook of the API do.
 */
#include "zend_inspect.h"

#include "os.h"
#include "page.h"
#include "walk.h"
#include "zend_huge.h"
#include "zend_pages.h"

/* Visits the run or the free pages at `page`; moves `page` behind them. */
static int walk_run(
    struct strata__walk *walk, struct strata__chunk *chunk, uint32_t *page)
{
    uint32_t first = *page;
    const void *address = strata__chunk_page(chunk, first);
    uint32_t end = strata__page_next_used(chunk, first);
    if (end > first) {
        *page = end;
        size_t bytes = (size_t)(end - first) * STRATA__PAGE_BYTES;
        return strata__walk_visit(walk, STRATA_WALK_FREE_RUN, address, bytes, bytes);
    }
    uint32_t class = chunk->map[first] & STRATA__CLASS_MASK;
    uint32_t value = strata__page_word_value(chunk->map[first]);
    if (class == STRATA__CLASS_LARGE) {
        *page = first + value;
        size_t bytes = (size_t)value * STRATA__PAGE_BYTES;
        return strata__walk_visit(walk, STRATA_WALK_LARGE_RUN, address, bytes, bytes);
    }
    unsigned bin = strata__page_classes[class].bin;
    STRATA__BUG_IF(class != strata__sizeclasses[bin].zend_class);
    STRATA__BUG_IF(value > strata__sizeclasses[bin].zend_blocks);
    *page = first + strata__sizeclasses[bin].zend_pages;
    return strata__walk_small_run(walk, bin, address,
        strata__sizeclasses[bin].zend_pages * STRATA__PAGE_BYTES,
        strata__sizeclasses[bin].zend_blocks - value);
}

static int walk_chunk(struct strata__walk *walk, struct strata__chunk *chunk)
{
    int result = strata__walk_visit(
        walk, STRATA_WALK_CHUNK, chunk, STRATA__CHUNK_BYTES, STRATA__CHUNK_BYTES);
    uint32_t page = 1;
    while (result == 0 && page < STRATA__CHUNK_PAGES) {
        result = walk_run(walk, chunk, &page);
    }
    return result;
}

static int walk_chunks(struct strata__walk *walk, struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->main;
    int result = 0;
    do {
        result = walk_chunk(walk, chunk);
        chunk = chunk->next;
    } while (result == 0 && chunk != set->main);
    chunk = set->cached;
    while (result == 0 && chunk != NULL) {
        result = strata__walk_visit(walk, STRATA_WALK_CACHED_CHUNK, chunk,
            STRATA__CHUNK_BYTES, STRATA__CHUNK_BYTES);
        chunk = chunk->next;
    }
    return result;
}

static int walk_huge(struct strata__walk *walk, struct strata_heap *heap)
{
    const void *cursor = heap->zend.huge;
    size_t bytes = 0;
    const void *block = strata__zend_huge_next(heap, &cursor, &bytes);
    int result = 0;
    while (result == 0 && block != NULL) {
        result = strata__walk_visit(walk, STRATA_WALK_HUGE, block, bytes, bytes);
        block = strata__zend_huge_next(heap, &cursor, &bytes);
    }
    return result;
}

static void clear_counters(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->main;
    do {
        for (uint32_t page = 1; page < STRATA__CHUNK_PAGES; page++) {
            if ((chunk->map[page] & STRATA__CLASS_MASK) != STRATA__CLASS_LARGE) {
                chunk->map[page] &= STRATA__CLASS_MASK;
            }
        }
        chunk = chunk->next;
    } while (chunk != set->main);
}

int strata__zend_walk(
    struct strata_heap *heap, strata_walk_visitor *visitor, void *context)
{
    struct strata__walk walk = {.visitor = visitor, .context = context};
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        strata__zend_count_free(heap, bin);
    }
    int result = walk_chunks(&walk, &heap->zend.chunks);
    clear_counters(&heap->zend.chunks);
    if (result == 0) {
        result = walk_huge(&walk, heap);
    }
    return result != 0 ? result : strata__walk_classes(&walk);
}

struct audit {
    size_t used_bytes;
    size_t real_bytes;
    size_t chunks;
    size_t cached_chunks;
    size_t huge_blocks;
};

static int add_up(void *context, const struct strata_walk_item *item)
{
    struct audit *audit = context;
    switch (item->kind) {
    case STRATA_WALK_CHUNK:
        audit->chunks++;
        audit->real_bytes += item->bytes;
        break;
    case STRATA_WALK_CACHED_CHUNK:
        audit->cached_chunks++;
        audit->real_bytes += item->bytes;
        break;
    case STRATA_WALK_SMALL_RUN:
        audit->used_bytes += item->live_blocks * item->block_bytes;
        break;
    case STRATA_WALK_LARGE_RUN:
        audit->used_bytes += item->bytes;
        break;
    case STRATA_WALK_HUGE:
        audit->huge_blocks++;
        audit->used_bytes += item->bytes;
        audit->real_bytes += item->bytes;
        break;
    case STRATA_WALK_FREE_RUN:
    case STRATA_WALK_CLASS:
    default:
        break;
    }
    return 0;
}

/* Run by run, as nothing else does it. */
static uint32_t longest_free(const struct strata__chunk *chunk)
{
    uint32_t longest = 0;
    uint32_t first = strata__page_next_free(chunk, 1);
    while (first < STRATA__CHUNK_PAGES) {
        uint32_t end = strata__page_next_used(chunk, first);
        longest = end - first > longest ? end - first : longest;
        first = strata__page_next_free(chunk, end);
    }
    return longest;
}

static void check_chunk_headers(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->main;
    uint32_t set_free_pages = 0;
    uint32_t set_longest = 0;
    do {
        uint32_t free_pages = 0;
        for (unsigned i = 0; i < STRATA__MAP_WORDS; i++) {
            free_pages += (uint32_t)__builtin_popcountll(~chunk->used_bits[i]);
        }
        STRATA__BUG_IF(free_pages != chunk->free_pages);
        STRATA__BUG_IF(chunk->next->prev != chunk);
        uint32_t longest = longest_free(chunk);
        STRATA__BUG_IF(chunk->longest.pages != longest);
        STRATA__BUG_IF(
            longest > 0 && strata__page_next_used(chunk, chunk->longest.first) !=
                               chunk->longest.first + longest);
        set_longest = longest > set_longest ? longest : set_longest;
        set_free_pages += free_pages;
        chunk = chunk->next;
    } while (chunk != set->main);
    STRATA__BUG_IF(set->free_pages != set_free_pages);
    STRATA__BUG_IF(strata__chunk_set_longest(set) != set_longest);
}

void strata__zend_check(struct strata_heap *heap)
{
    struct audit audit = {0};
    check_chunk_headers(&heap->zend.chunks);
    strata__zend_walk(heap, add_up, &audit);
    STRATA__BUG_IF(audit.used_bytes != heap->account.used_bytes);
    STRATA__BUG_IF(audit.real_bytes != heap->account.real_bytes);
    STRATA__BUG_IF(audit.chunks != heap->zend.chunks.count);
    STRATA__BUG_IF(audit.cached_chunks != heap->zend.chunks.cached_count);
    STRATA__BUG_IF(audit.huge_blocks != heap->huge_count);
    STRATA__BUG_IF(heap->account.reserved_bytes != 0);
    STRATA__BUG_IF(heap->account.real_bytes > heap->account.peak_real_bytes);
}
