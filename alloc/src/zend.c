/*
 * The ZEND layout: figures equal to those of Zend MM 8.0-8.3 after every operation.
 *
 * Small blocks come from runs inside chunks and stay on their bin's list until gc or end
 * of request; large blocks are runs; huge blocks have a mapping of their own.
 *
 * Kept apart from stock: a refusal leaves no half-counted block behind, since the caller
 * lives on; and blocks may be aligned, which stock does not offer.
 *
 * Sources (php-src 8.1.3, Zend/zend_alloc.c): alloc_large 1000, alloc_small_slow 1187,
 * realloc_heap 1514, shutdown 2207.
 *
 * One thread at a time, as the heap.
 */
#include "free_list.h"
#include "heap_common.h"

#include "os.h"
#include "page.h"
#include "zend_huge.h"
#include "zend_inspect.h"
#include "zend_pages.h"

/* ---- small ---- */

static void *zend_refill(struct strata_heap *heap, unsigned bin)
{
    const struct strata__sizeclass *class = &strata__sizeclasses[bin];
    uint32_t first = 0;
    struct strata__chunk *chunk =
        strata__zend_take_pages(heap, class->zend_pages, &first);
    if (chunk == NULL) {
        return NULL;
    }
    for (uint32_t i = 0; i < class->zend_pages; i++) {
        chunk->map[first + i] = class->zend_class + i;
    }
    char *start = strata__chunk_page(chunk, first);
    size_t waste =
        strata__run_waste(class->zend_pages, class->zend_blocks, class->block_bytes);
    return strata__heap_carve(heap, bin, start + waste, class->zend_blocks);
}

/* Never asked for: the lists grow until gc or the end of the request takes from them. */
static void zend_sweep(struct strata_heap *heap)
{
    heap->sweep_below = 0;
}

/* ---- large ---- */

/* Room for `pages` pages at an alignment above one page: takes more than needed and gives
 * the ends back. */
static struct strata__chunk *take_aligned(
    struct strata_heap *heap, uint32_t pages, uint32_t align_pages, uint32_t *first)
{
    uint32_t taken = pages + align_pages - 1;
    struct strata__chunk *chunk = strata__zend_take_pages(heap, taken, first);
    if (chunk == NULL) {
        return NULL;
    }
    uint32_t before = (align_pages - *first % align_pages) % align_pages;
    if (before > 0) {
        strata__zend_give_pages(heap, chunk, *first, before, 0);
    }
    if (taken > before + pages) {
        strata__zend_give_pages(
            heap, chunk, *first + before + pages, taken - before - pages, 0);
    }
    *first += before;
    return chunk;
}

static void *alloc_large(struct strata_heap *heap, uint32_t pages, uint32_t align_pages)
{
    uint32_t first = 0;
    struct strata__chunk *chunk = align_pages > 1
                                      ? take_aligned(heap, pages, align_pages, &first)
                                      : strata__zend_take_pages(heap, pages, &first);
    if (chunk == NULL) {
        return NULL;
    }
    chunk->map[first] = strata__page_large_word(pages);
    void *block = strata__chunk_page(chunk, first);
    size_t bytes = (size_t)pages * STRATA__PAGE_BYTES;
    strata__account_use(&heap->account, bytes);
    strata__track_hand_out(block, bytes);
    return block;
}

static void free_large(
    struct strata_heap *heap, struct strata__chunk *chunk, uint32_t page)
{
    uint32_t pages = strata__page_word_value(chunk->map[page]);
    size_t bytes = (size_t)pages * STRATA__PAGE_BYTES;
    strata__track_close(strata__chunk_page(chunk, page), bytes);
    strata__account_unuse(&heap->account, bytes);
    strata__zend_give_pages(heap, chunk, page, pages, 1);
}

static int resize_large(struct strata_heap *heap, struct strata__chunk *chunk,
    uint32_t page, uint32_t new_pages)
{
    uint32_t pages = strata__page_word_value(chunk->map[page]);
    char *start = strata__chunk_page(chunk, page);
    size_t bytes = (size_t)pages * STRATA__PAGE_BYTES;
    size_t new_bytes = (size_t)new_pages * STRATA__PAGE_BYTES;
    if (new_pages < pages) {
        strata__track_close(start + new_bytes, bytes - new_bytes);
        strata__account_unuse(&heap->account, bytes - new_bytes);
        /* Stock leaves free_tail and the chunk alone here. */
        strata__zend_mark_free(heap, chunk, page + new_pages, pages - new_pages);
    } else if (new_pages > pages) {
        if (!strata__page_range_is_free(chunk, page + pages, new_pages - pages)) {
            return STRATA__RESIZE_MOVE;
        }
        strata__zend_mark_used(heap, chunk, page + pages, new_pages - pages);
        strata__account_use(&heap->account, new_bytes - bytes);
        strata__track_hand_out(start + bytes, new_bytes - bytes);
    }
    chunk->map[page] = strata__page_large_word(new_pages);
    return 0;
}

/* ---- layout operations ---- */

static void *zend_alloc_pages(struct strata_heap *heap, size_t bytes, size_t alignment)
{
    size_t pages = strata__pages_of(bytes);
    size_t align_pages = alignment / STRATA__PAGE_BYTES;
    if (pages > (SIZE_MAX >> 1) / STRATA__PAGE_BYTES) {
        strata__heap_fail_beyond(heap, bytes);
        return NULL;
    }
    if (pages < STRATA__CHUNK_PAGES && pages + align_pages - 1 < STRATA__CHUNK_PAGES) {
        return alloc_large(heap, (uint32_t)pages, (uint32_t)align_pages);
    }
    return strata__zend_huge_alloc(heap, pages * STRATA__PAGE_BYTES,
        alignment > STRATA__CHUNK_BYTES ? alignment : STRATA__CHUNK_BYTES);
}

/* Where a block lies that is not huge; fatal if it is none. */
static struct strata__chunk *locate(
    struct strata_heap *heap, const void *block, uint32_t *page)
{
    struct strata__chunk *chunk = strata__chunk_find(&heap->zend.chunks, block);
    if (chunk == NULL) {
        strata__heap_fatal(heap, "address which is no block of it", block);
    }
    uintptr_t offset = (uintptr_t)block - (uintptr_t)chunk;
    *page = (uint32_t)(offset >> STRATA__PAGE_BITS);
    uint32_t word = chunk->map[*page];
    const struct strata__page_class *class =
        &strata__page_classes[word & STRATA__CLASS_MASK];
    uint32_t in_page = (uint32_t)(offset % STRATA__PAGE_BYTES);
    if ((word & STRATA__CLASS_MASK) == STRATA__CLASS_LARGE) {
        if (in_page != 0) {
            strata__heap_fatal(heap, "address inside a block", block);
        }
    } else if (class->magic == 0) {
        strata__heap_fatal(heap, "address of a free page or inside a block", block);
    } else if (!strata__is_block_start(class, strata__run_offset(class, block))) {
        strata__heap_fatal(heap, "address inside a block", block);
    }
    return chunk;
}

static int zend_free_slow(struct strata_heap *heap, void *block)
{
    if (((uintptr_t)block & (STRATA__CHUNK_BYTES - 1)) == 0) {
        strata__zend_huge_free(heap, block);
        return -1;
    }
    uint32_t page = 0;
    struct strata__chunk *chunk = locate(heap, block, &page);
    uint32_t class = chunk->map[page] & STRATA__CLASS_MASK;
    if (class == STRATA__CLASS_LARGE) {
        free_large(heap, chunk, page);
        return -1;
    }
    return strata__page_classes[class].bin;
}

static size_t zend_size_of(struct strata_heap *heap, const void *block)
{
    if (((uintptr_t)block & (STRATA__CHUNK_BYTES - 1)) == 0) {
        return strata__zend_huge_bytes(heap, block);
    }
    uint32_t page = 0;
    struct strata__chunk *chunk = locate(heap, block, &page);
    uint32_t word = chunk->map[page];
    if ((word & STRATA__CLASS_MASK) == STRATA__CLASS_LARGE) {
        return (size_t)strata__page_word_value(word) * STRATA__PAGE_BYTES;
    }
    return heap->block_bytes[strata__page_classes[word & STRATA__CLASS_MASK].bin];
}

static int zend_resize(struct strata_heap *heap, void *block, size_t bytes)
{
    size_t pages = strata__pages_of(bytes);
    if (((uintptr_t)block & (STRATA__CHUNK_BYTES - 1)) == 0) {
        if (bytes <= STRATA__LARGE_MAX || bytes > (SIZE_MAX >> 1)) {
            return STRATA__RESIZE_MOVE;
        }
        return strata__zend_huge_resize(heap, block, pages * STRATA__PAGE_BYTES);
    }
    if (bytes <= STRATA__SMALL_MAX || bytes > STRATA__LARGE_MAX) {
        return STRATA__RESIZE_MOVE;
    }
    uint32_t page = 0;
    struct strata__chunk *chunk = locate(heap, block, &page);
    return resize_large(heap, chunk, page, (uint32_t)pages);
}

static int zend_holds_free(struct strata_heap *heap, const void *block, unsigned bin)
{
    (void)heap;
    (void)block;
    (void)bin;
    return 0;
}

/* ---- end of request, limit ---- */

static void zend_end_request(struct strata_heap *heap)
{
    strata__zend_huge_release(heap);
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        strata__heap_set_first(heap, bin, NULL);
    }
    strata__account_restart(
        &heap->account, strata__chunk_set_restart(&heap->zend.chunks));
}

static void zend_shrink_to(struct strata_heap *heap, size_t bytes)
{
    size_t cached = heap->zend.chunks.cached_count * STRATA__CHUNK_BYTES;
    if (heap->account.real_bytes - cached > bytes) {
        return; /* would not be enough: stock drops nothing then */
    }
    while (heap->account.real_bytes > bytes) {
        strata__account_return(
            &heap->account, strata__chunk_drop_cached(&heap->zend.chunks));
    }
}

static struct strata_heap *zend_create(const struct strata_heap_options *options)
{
    size_t bytes = strata__pages_of(sizeof(struct strata_heap)) * STRATA__PAGE_BYTES;
    struct strata_heap *heap = strata__os->map(bytes, STRATA__PAGE_BYTES);
    if (heap == NULL) {
        return NULL;
    }
    strata__heap_init(heap, options);
    heap->layout = &strata__layout_zend;
    if (strata__chunk_set_init(&heap->zend.chunks) != 0) {
        strata__os->unmap(heap, bytes);
        return NULL;
    }
    strata__account_restart(&heap->account, STRATA__CHUNK_BYTES);
    return heap;
}

static void zend_destroy(struct strata_heap *heap)
{
    strata__zend_huge_release(heap);
    strata__chunk_set_release(&heap->zend.chunks);
    strata__track_open(heap, sizeof(*heap));
    strata__os->unmap(
        heap, strata__pages_of(sizeof(struct strata_heap)) * STRATA__PAGE_BYTES);
}

static size_t zend_trim(struct strata_heap *heap)
{
    return strata__zend_gc(heap);
}

static void zend_get_stats(
    const struct strata_heap *heap, struct strata_heap_stats *stats)
{
    const struct strata__chunk_set *set = &heap->zend.chunks;
    stats->chunks = set->count;
    stats->cached_chunks = set->cached_count;
    stats->peak_chunks = set->peak_count;
    stats->average_chunks = set->average;
    stats->chunk_purchases = set->purchases;
    stats->largest_free_run_bytes =
        (size_t)strata__chunk_set_longest(set) * STRATA__PAGE_BYTES;
    stats->free_bytes = (size_t)set->free_pages * STRATA__PAGE_BYTES +
                        (size_t)set->cached_count * STRATA__CHUNK_BYTES;
}

const struct strata__layout strata__layout_zend = {
    .create = zend_create,
    .destroy = zend_destroy,
    .refill = zend_refill,
    .sweep = zend_sweep,
    .alloc_pages = zend_alloc_pages,
    .free_slow = zend_free_slow,
    .resize = zend_resize,
    .size_of = zend_size_of,
    .holds_free = zend_holds_free,
    .end_request = zend_end_request,
    .trim = zend_trim,
    .shrink_to = zend_shrink_to,
    .get_stats = zend_get_stats,
    .walk = strata__zend_walk,
    .check = strata__zend_check,
};
