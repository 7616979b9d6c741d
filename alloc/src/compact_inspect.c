/*
 * Looking at a COMPACT heap: walk and audit. The audit is a walk whose visitor adds up.
 *
 * Live blocks of a run are its blocks less those on its own list and less those on the
 * bin's. The latter is short (a sweep empties it), so the walk looks it through for each
 * run; the audit subtracts all the bins' lists at once instead.
 *
 * One thread at a time, as the heap. Called by strata_heap_walk, tests, the debug hook.
 */
#include "compact_inspect.h"

#include "free_list.h"
#include "os.h"
#include "slab.h"
#include "walk.h"

static uint32_t on_list(const struct strata_heap *heap, const void *list, uint32_t first)
{
    uint32_t count = 0;
    while (list != NULL) {
        count += strata__slab_run_of(heap, list) == first;
        list = strata__heap_next(heap, list);
    }
    return count;
}

static int walk_small(
    struct strata__walk *walk, struct strata_heap *heap, uint32_t *page, uint32_t class)
{
    uint32_t first = *page;
    unsigned bin = strata__page_classes[class].bin;
    const struct strata__sizeclass *sizeclass = &strata__sizeclasses[bin];
    STRATA__BUG_IF(strata__page_classes[class].back_pages != 0);
    uint32_t own = strata__slab_free_blocks(heap, first);
    uint32_t held =
        walk->without_lists ? 0 : on_list(heap, strata__heap_first(heap, bin), first);
    STRATA__BUG_IF(own != strata__slab_count_list(heap, first));
    STRATA__BUG_IF(own + held > sizeclass->compact_blocks);
    *page = first + sizeclass->compact_pages;
    return strata__walk_small_run(walk, bin,
        strata__range_address(&heap->compact.range, first),
        sizeclass->compact_pages * STRATA__PAGE_BYTES,
        sizeclass->compact_blocks - own - held);
}

/* Visits the run or the free pages at `page`; moves `page` behind them. */
static int walk_run(struct strata__walk *walk, struct strata_heap *heap, uint32_t *page)
{
    const struct strata__range *range = &heap->compact.range;
    uint32_t first = *page;
    const void *address = strata__range_address(range, first);
    uint32_t used = strata__range_next_used(range, first);
    if (used > first) {
        *page = used;
        return strata__walk_visit(walk, STRATA_WALK_FREE_RUN, address,
            (size_t)(used - first) * STRATA__PAGE_BYTES,
            strata__range_count_dirty(range, first, used - first) * STRATA__PAGE_BYTES);
    }
    uint32_t word = range->words[first];
    uint32_t class = strata__slab_class(word);
    if (class >= STRATA__CLASS_SMALL) {
        return walk_small(walk, heap, page, class);
    }
    STRATA__BUG_IF(class != STRATA__CLASS_LARGE);
    *page = first + (word >> STRATA__CLASS_BITS);
    size_t bytes = (size_t)(*page - first) * STRATA__PAGE_BYTES;
    return strata__walk_visit(walk,
        bytes > STRATA__LARGE_MAX ? STRATA_WALK_HUGE : STRATA_WALK_LARGE_RUN, address,
        bytes, bytes);
}

static int walk_range(struct strata__walk *walk, struct strata_heap *heap)
{
    const struct strata__range *range = &heap->compact.range;
    int result = strata__walk_visit(walk, STRATA_WALK_CHUNK, range->base,
        (size_t)range->end * STRATA__PAGE_BYTES,
        (size_t)(range->used_pages + range->dirty_pages) * STRATA__PAGE_BYTES);
    uint32_t page = 1;
    while (result == 0 && page < range->end) {
        result = walk_run(walk, heap, &page);
    }
    return result;
}

int strata__compact_walk(
    struct strata_heap *heap, strata_walk_visitor *visitor, void *context)
{
    struct strata__walk walk = {.visitor = visitor, .context = context};
    int result = walk_range(&walk, heap);
    return result != 0 ? result : strata__walk_classes(&walk);
}

struct audit {
    size_t used_bytes;
    size_t used_pages;
    size_t dirty_pages;
    size_t huge_blocks;
};

static int add_up(void *context, const struct strata_walk_item *item)
{
    struct audit *audit = context;
    switch (item->kind) {
    case STRATA_WALK_SMALL_RUN:
        audit->used_bytes += item->live_blocks * item->block_bytes;
        audit->used_pages += item->bytes / STRATA__PAGE_BYTES;
        break;
    case STRATA_WALK_HUGE:
        audit->huge_blocks++;
        audit->used_bytes += item->bytes;
        audit->used_pages += item->bytes / STRATA__PAGE_BYTES;
        break;
    case STRATA_WALK_LARGE_RUN:
        audit->used_bytes += item->bytes;
        audit->used_pages += item->bytes / STRATA__PAGE_BYTES;
        break;
    case STRATA_WALK_FREE_RUN:
        audit->dirty_pages += item->resident_bytes / STRATA__PAGE_BYTES;
        break;
    case STRATA_WALK_CHUNK:
    case STRATA_WALK_CACHED_CHUNK:
    case STRATA_WALK_CLASS:
    default:
        break;
    }
    return 0;
}

static size_t list_bytes(const struct strata_heap *heap)
{
    size_t bytes = 0;
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        const void *block = strata__heap_first(heap, bin);
        while (block != NULL) {
            bytes += heap->block_bytes[bin];
            block = strata__heap_next(heap, block);
        }
    }
    return bytes;
}

void strata__compact_check(struct strata_heap *heap)
{
    const struct strata__range *range = &heap->compact.range;
    struct audit audit = {0};
    struct strata__walk walk = {.visitor = add_up, .context = &audit, .without_lists = 1};
    walk_range(&walk, heap);
    STRATA__BUG_IF(audit.used_bytes - list_bytes(heap) != heap->account.used_bytes);
    STRATA__BUG_IF(audit.used_pages != range->used_pages);
    STRATA__BUG_IF(audit.dirty_pages != range->dirty_pages);
    STRATA__BUG_IF(audit.huge_blocks != heap->huge_count);
    STRATA__BUG_IF(heap->account.reserved_bytes != 0);
    STRATA__BUG_IF(heap->account.real_bytes > heap->account.peak_real_bytes);
    size_t pages = heap->account.real_bytes / STRATA__PAGE_BYTES;
    STRATA__BUG_IF(pages <= (size_t)range->used_pages + range->dirty_pages);
}
