/*
 * The COMPACT layout: page runs of any length in one address range, `real` by the page.
 *
 * real = used pages + free pages not yet given back + the pages of the heap struct and of
 * the tables that were touched. A purchase is any page which was not held before; the
 * limit is tested there and nowhere else. Before a refusal the bins' lists go home, all
 * free pages go back to the system, and the test is made again; but not where the blocks
 * in use alone leave no room, since that would cost held pages for nothing.
 *
 * Blocks above STRATA_LARGE_MAX_BYTES are runs like others; they are counted apart only
 * for the statistics.
 *
 * Freed blocks stay on their bin's list until a sweep sends them home to their runs. One
 * comes when `used` has fallen by a step since the last purchase or sweep. Steps double
 * while purchases and sweeps alternate (the heap churns) and are halved while sweeps
 * follow one another (it shrinks).
 *
 * Invariant after each operation: account.real_bytes equals real_pages() below.
 *
 * One thread at a time, as the heap.
 */
#include "free_list.h"
#include "heap_common.h"

#include <string.h>

#include "compact_inspect.h"
#include "os.h"
#include "slab.h"

#define RESERVE_DEFAULT ((size_t)64 << 30)
#define RESERVE_LEAST ((size_t)64 << 20) /* also the unit: a page of page states */
#define RESERVE_MOST ((size_t)256 << 30) /* what 27 bits of page number and more hold */
#define RUN_MOST_PAGES ((size_t)UINT32_MAX >> STRATA__CLASS_BITS) /* a word holds them */
/* Bytes freed between two sweeps of the bins' lists. */
#define STEP_LEAST ((size_t)8 << 10)
#define STEP_START ((size_t)64 << 10)
#define STEP_MOST ((size_t)1 << 20)

#define ROUND_UP 0.9 /* an average that has come this close to a page keeps it */

static const double chunk_pages = 512.0;
_Static_assert(STRATA__CHUNK_PAGES == 512, "chunk_pages is the same as a double");

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* ---- figures ---- */

static size_t front_bytes(void)
{
    return strata__pages_of(sizeof(struct strata_heap)) * STRATA__PAGE_BYTES;
}

/* Of the heap struct a COMPACT heap touches what lies before and in the range. */
static size_t front_touched_pages(void)
{
    return strata__pages_of(
        offsetof(struct strata_heap, compact) + sizeof(struct strata__compact));
}

static size_t real_bytes(const struct strata__range *range)
{
    return (front_touched_pages() + strata__range_table_pages(range->touched_end) +
               range->used_pages + range->dirty_pages) *
           STRATA__PAGE_BYTES;
}

/* Pages were purged: real falls to what is still held. */
static void settle(struct strata_heap *heap)
{
    strata__account_return(
        &heap->account, heap->account.real_bytes - real_bytes(&heap->compact.range));
}

/* ---- pages ---- */

static void decay(struct strata_heap *heap)
{
    if (strata__range_decay(&heap->compact.range) > 0) {
        settle(heap);
    }
}

/* Sends every free block home to its run; runs without a live block end. */
static void send_home(struct strata_heap *heap)
{
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        void *list = strata__heap_first(heap, bin);
        strata__heap_set_first(heap, bin, NULL);
        strata__slab_return(heap, list);
    }
}

/* `used` has grown: frees from here on count towards the next sweep. */
static void move_sweep(struct strata_heap *heap)
{
    struct strata__compact *compact = &heap->compact;
    size_t used = heap->account.used_bytes;
    if (!compact->bought) {
        compact->bought = 1;
        compact->step_bytes = least(compact->step_bytes * 2, STEP_MOST);
    }
    if (used > compact->step_bytes && used - compact->step_bytes > heap->sweep_below) {
        heap->sweep_below = used - compact->step_bytes;
    }
}

static void compact_sweep(struct strata_heap *heap)
{
    struct strata__compact *compact = &heap->compact;
    if (!compact->bought && compact->step_bytes > STEP_LEAST) {
        compact->step_bytes /= 2;
    }
    compact->bought = 0;
    send_home(heap);
    decay(heap);
    /* The less is in use, the closer the sweeps, so that nothing is left in the end. */
    size_t used = heap->account.used_bytes;
    heap->sweep_below = used - least(compact->step_bytes, used / 4);
}

/* Sends every free block home and every free page back. */
static void collect(struct strata_heap *heap)
{
    send_home(heap);
    strata__range_purge(&heap->compact.range, 0);
    settle(heap);
}

/* Can so many pages more be had, if all goes back that may? */
static int may_fit(const struct strata_heap *heap, uint32_t pages)
{
    size_t least = heap->account.used_bytes + front_touched_pages() * STRATA__PAGE_BYTES;
    return least + (size_t)pages * STRATA__PAGE_BYTES <= heap->account.hard_limit_bytes;
}

static size_t cost_bytes(const struct strata_heap *heap, uint32_t first, uint32_t pages)
{
    return (size_t)strata__range_cost(&heap->compact.range, first, pages) *
           STRATA__PAGE_BYTES;
}

static uint32_t chunks_of(uint32_t end)
{
    return (end + STRATA__CHUNK_PAGES - 1) / STRATA__CHUNK_PAGES;
}

/* Takes free pages at their cost; 0 if refused or the system has none. */
static int buy(struct strata_heap *heap, uint32_t first, uint32_t pages, size_t cost)
{
    struct strata__range *range = &heap->compact.range;
    size_t asked = (size_t)pages * STRATA__PAGE_BYTES;
    uint32_t chunks = chunks_of(range->touched_end);
    if (!strata__heap_reserve(heap, cost, asked)) {
        return 0;
    }
    if (strata__range_take(range, first, pages) != 0) {
        strata__account_cancel(&heap->account, cost);
        strata__heap_fail(heap, STRATA_ERROR_SYSTEM, asked);
        return 0;
    }
    strata__account_commit(&heap->account, cost);
    heap->compact.purchases += chunks_of(range->touched_end) - chunks;
    return 1;
}

/* First of `pages` pages by search, bought where they are not held. */
static uint32_t find_pages(struct strata_heap *heap, uint32_t pages, uint32_t align_pages)
{
    struct strata__range *range = &heap->compact.range;
    uint32_t first = strata__range_search(range, pages, align_pages);
    size_t cost = cost_bytes(heap, first, pages);
    if (!may_fit(heap, pages)) {
        size_t asked = (size_t)pages * STRATA__PAGE_BYTES;
        int granted = strata__heap_reserve(heap, asked, asked);
        STRATA__BUG_IF(granted);
        return 0;
    }
    if (first == 0 || !strata__account_fits(&heap->account, cost)) {
        collect(heap);
        first = strata__range_search(range, pages, align_pages);
        cost = cost_bytes(heap, first, pages);
    }
    if (first == 0) {
        strata__heap_fail(heap, STRATA_ERROR_SYSTEM, (size_t)pages * STRATA__PAGE_BYTES);
        return 0;
    }
    return buy(heap, first, pages, cost) ? first : 0;
}

/* First of `pages` pages, now in use; 0 if there are none to be had. */
static uint32_t take_pages(struct strata_heap *heap, uint32_t pages, uint32_t align_pages)
{
    uint32_t first = 0;
    if (pages == 1 && align_pages == 1) {
        first = strata__range_take_dirty(&heap->compact.range);
    }
    if (first == 0) {
        first = find_pages(heap, pages, align_pages);
    }
    if (first != 0) {
        move_sweep(heap);
    }
    return first;
}

/* ---- small ---- */

static void *compact_refill(struct strata_heap *heap, unsigned bin)
{
    void *block = strata__slab_take_partial(heap, bin);
    if (block != NULL) {
        return block;
    }
    uint32_t first = take_pages(heap, strata__sizeclasses[bin].compact_pages, 1);
    return first == 0 ? NULL : strata__slab_start_run(heap, bin, first);
}

/* ---- large ---- */

static size_t large_bytes(const struct strata_heap *heap, uint32_t first)
{
    return (size_t)(heap->compact.range.words[first] >> STRATA__CLASS_BITS) *
           STRATA__PAGE_BYTES;
}

static void write_large(struct strata_heap *heap, uint32_t first, uint32_t pages)
{
    heap->compact.range.words[first] = STRATA__CLASS_LARGE | pages << STRATA__CLASS_BITS;
}

static void count_huge(struct strata_heap *heap, size_t before, size_t after)
{
    heap->huge_count += after > STRATA__LARGE_MAX;
    heap->huge_count -= before > STRATA__LARGE_MAX;
}

static void *compact_alloc_pages(struct strata_heap *heap, size_t bytes, size_t alignment)
{
    const struct strata__range *range = &heap->compact.range;
    size_t pages = strata__pages_of(bytes);
    size_t align_pages = alignment / STRATA__PAGE_BYTES;
    if (pages >= range->pages || pages > RUN_MOST_PAGES || align_pages >= range->pages) {
        strata__heap_fail_beyond(heap, bytes);
        return NULL;
    }
    uint32_t first = take_pages(heap, (uint32_t)pages, (uint32_t)align_pages);
    if (first == 0) {
        return NULL;
    }
    write_large(heap, first, (uint32_t)pages);
    bytes = pages * STRATA__PAGE_BYTES;
    count_huge(heap, 0, bytes);
    strata__account_use(&heap->account, bytes);
    void *block = strata__range_address(range, first);
    strata__track_hand_out(block, bytes);
    return block;
}

/* The first page of a block of pages or of a small block's run; fatal if it is neither. */
static uint32_t locate(struct strata_heap *heap, const void *block)
{
    if (!strata__range_holds(&heap->compact.range, block)) {
        strata__heap_fatal(heap, "address which is no block of it", block);
    }
    const uint32_t *word = strata__range_word(&heap->compact.range, block);
    uint32_t in_page = (uint32_t)((uintptr_t)block % STRATA__PAGE_BYTES);
    if ((*word & STRATA__CLASS_MASK) == STRATA__CLASS_FREE) {
        strata__heap_fatal(heap, "address of a free page or inside a block", block);
    }
    if ((*word & STRATA__CLASS_MASK) == STRATA__CLASS_LARGE) {
        if (in_page != 0) {
            strata__heap_fatal(heap, "address inside a block", block);
        }
        return (uint32_t)(word - heap->compact.range.words);
    }
    const struct strata__page_class *class =
        &strata__page_classes[strata__slab_class(*word)];
    if (!strata__is_block_start(class, strata__run_offset(class, block))) {
        strata__heap_fatal(heap, "address inside a block", block);
    }
    return (uint32_t)(word - heap->compact.range.words) - class->back_pages;
}

static int compact_free_slow(struct strata_heap *heap, void *block)
{
    uint32_t first = locate(heap, block);
    uint32_t word = heap->compact.range.words[first];
    if ((word & STRATA__CLASS_MASK) != STRATA__CLASS_LARGE) {
        unsigned bin = strata__page_classes[strata__slab_class(word)].bin;
        /* The first free block of a run of 8-byte blocks does not look like a link. */
        if (bin == 0 && strata__slab_holds_free(heap, block, bin)) {
            strata__heap_fatal(heap, "free of a block that is free already", block);
        }
        return (int)bin;
    }
    size_t bytes = large_bytes(heap, first);
    strata__track_close(block, bytes);
    strata__account_unuse(&heap->account, bytes);
    count_huge(heap, bytes, 0);
    strata__range_give(&heap->compact.range, first, word >> STRATA__CLASS_BITS);
    decay(heap);
    return -1;
}

static size_t compact_size_of(struct strata_heap *heap, const void *block)
{
    uint32_t first = locate(heap, block);
    uint32_t word = heap->compact.range.words[first];
    if ((word & STRATA__CLASS_MASK) == STRATA__CLASS_LARGE) {
        return large_bytes(heap, first);
    }
    return heap->block_bytes[strata__page_classes[strata__slab_class(word)].bin];
}

static int grow_in_place(
    struct strata_heap *heap, uint32_t first, uint32_t pages, uint32_t more)
{
    struct strata__range *range = &heap->compact.range;
    if (!strata__range_is_free(range, first + pages, more)) {
        return STRATA__RESIZE_MOVE;
    }
    size_t cost = cost_bytes(heap, first + pages, more);
    if (!strata__account_fits(&heap->account, cost) && may_fit(heap, more)) {
        collect(heap);
        cost = cost_bytes(heap, first + pages, more);
    }
    return buy(heap, first + pages, more, cost) ? 0 : STRATA__RESIZE_REFUSED;
}

static int compact_resize(struct strata_heap *heap, void *block, size_t bytes)
{
    size_t new_pages = strata__pages_of(bytes);
    if (bytes <= STRATA__SMALL_MAX || new_pages >= heap->compact.range.pages ||
        new_pages > RUN_MOST_PAGES) {
        return STRATA__RESIZE_MOVE;
    }
    uint32_t first = locate(heap, block);
    size_t old_bytes = large_bytes(heap, first);
    uint32_t pages = (uint32_t)(old_bytes / STRATA__PAGE_BYTES);
    uint32_t wanted = (uint32_t)new_pages;
    size_t new_bytes = new_pages * STRATA__PAGE_BYTES;
    if (wanted > pages) {
        int grown = grow_in_place(heap, first, pages, wanted - pages);
        if (grown != 0) {
            return grown;
        }
        strata__account_use(&heap->account, new_bytes - old_bytes);
        strata__track_hand_out((char *)block + old_bytes, new_bytes - old_bytes);
    } else if (wanted < pages) {
        strata__track_close((char *)block + new_bytes, old_bytes - new_bytes);
        strata__account_unuse(&heap->account, old_bytes - new_bytes);
        strata__range_give(&heap->compact.range, first + wanted, pages - wanted);
        decay(heap);
    }
    write_large(heap, first, wanted);
    count_huge(heap, old_bytes, new_bytes);
    return 0;
}

static int compact_holds_free(struct strata_heap *heap, const void *block, unsigned bin)
{
    return strata__slab_holds_free(heap, block, bin);
}

/* ---- the heap as a whole ---- */

static void empty_bins(struct strata_heap *heap)
{
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        strata__heap_set_first(heap, bin, NULL);
        heap->partial_runs[bin] = 0;
    }
    heap->sweep_below = 0;
    heap->compact.bought = 1;
}

/* The pages up to the halving average of the highest page used stay held for the next
 * request. (Not their number: a request leaves holes, and would buy those pages again.) */
static void compact_end_request(struct strata_heap *heap)
{
    struct strata__compact *compact = &heap->compact;
    compact->average_pages =
        (compact->average_pages + (double)compact->range.high_end) / 2.0;
    empty_bins(heap);
    strata__range_restart(&compact->range);
    heap->huge_count = 0;
    strata__range_keep(&compact->range, (uint32_t)(compact->average_pages + ROUND_UP));
    strata__account_restart(&heap->account, real_bytes(&compact->range));
}

static size_t compact_trim(struct strata_heap *heap)
{
    size_t before = heap->account.real_bytes;
    collect(heap);
    return before - heap->account.real_bytes;
}

static void compact_shrink_to(struct strata_heap *heap, size_t bytes)
{
    (void)bytes;
    collect(heap);
}

static char *reserve(size_t wanted_bytes, uint32_t *pages)
{
    size_t bytes = wanted_bytes == 0 ? RESERVE_DEFAULT : wanted_bytes;
    bytes = bytes > RESERVE_MOST ? RESERVE_MOST : bytes;
    bytes = (bytes + RESERVE_LEAST - 1) & ~(RESERVE_LEAST - 1);
    for (;;) {
        *pages = (uint32_t)(bytes / STRATA__PAGE_BYTES);
        char *start = strata__os->reserve(strata__range_span(front_bytes(), *pages));
        /* A caller who named a size gets that size; else less will do (ulimit -v). */
        if (start != NULL || wanted_bytes != 0 || bytes == RESERVE_LEAST) {
            return start;
        }
        bytes /= 2;
    }
}

static struct strata_heap *compact_create(const struct strata_heap_options *options)
{
    uint32_t pages = 0;
    char *start = reserve(options->reserve_bytes, &pages);
    if (start == NULL) {
        return NULL;
    }
    struct strata_heap *heap = (struct strata_heap *)(void *)start;
    if (strata__os->commit(start, front_bytes()) != 0) {
        strata__os->unmap(start, strata__range_span(front_bytes(), pages));
        return NULL;
    }
    strata__heap_init(heap, options);
    heap->layout = &strata__layout_compact;
    if (strata__range_init(&heap->compact.range, start, front_bytes(), pages) != 0) {
        strata__os->unmap(start, strata__range_span(front_bytes(), pages));
        return NULL;
    }
    heap->compact.average_pages = chunk_pages;
    heap->compact.step_bytes = STEP_START;
    heap->compact.purchases = chunks_of(heap->compact.range.touched_end);
    empty_bins(heap);
    strata__account_restart(&heap->account, real_bytes(&heap->compact.range));
    return heap;
}

static void compact_destroy(struct strata_heap *heap)
{
    strata__track_open(heap, sizeof(*heap));
    strata__track_open(heap->compact.range.base, heap->compact.range.reach_bytes);
    strata__os->unmap(heap, strata__range_span(front_bytes(), heap->compact.range.pages));
}

static void compact_get_stats(
    const struct strata_heap *heap, struct strata_heap_stats *stats)
{
    const struct strata__range *range = &heap->compact.range;
    uint32_t longest = 0;
    uint32_t first = strata__range_next_free(range, 1);
    while (first < range->end) {
        uint32_t end = strata__range_next_used(range, first);
        longest = end - first > longest ? end - first : longest;
        first = strata__range_next_free(range, end);
    }
    stats->chunks = chunks_of(range->end);
    stats->peak_chunks = chunks_of(range->high_end);
    stats->average_chunks = heap->compact.average_pages / chunk_pages;
    stats->chunk_purchases = heap->compact.purchases;
    stats->largest_free_run_bytes = (size_t)longest * STRATA__PAGE_BYTES;
    stats->free_bytes = (size_t)range->dirty_pages * STRATA__PAGE_BYTES;
}

const struct strata__layout strata__layout_compact = {
    .create = compact_create,
    .destroy = compact_destroy,
    .refill = compact_refill,
    .sweep = compact_sweep,
    .alloc_pages = compact_alloc_pages,
    .free_slow = compact_free_slow,
    .resize = compact_resize,
    .size_of = compact_size_of,
    .holds_free = compact_holds_free,
    .end_request = compact_end_request,
    .trim = compact_trim,
    .shrink_to = compact_shrink_to,
    .get_stats = compact_get_stats,
    .walk = strata__compact_walk,
    .check = strata__compact_check,
};
