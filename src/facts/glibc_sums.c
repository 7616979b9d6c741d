/*
 * glibc_sums.c - what of an arena is in use, free, resident, and would go back.
 *
 * What malloc_trim(0) gives back follows mtrim() and systrim() of malloc/malloc.c: fast bins
 * are merged, whole pages inside free chunks are dropped, and only the main arena's top is
 * cut, leaving MINSIZE + 1 bytes, in pages or in huge pages.
 */
#include "facts/glibc_sums.h"

#include "base/number.h"
#include "facts/glibc_find.h"

enum {
    TOP_KEPT_BYTES = GLIBC_CHUNK_MINIMUM_BYTES + 1,
    PIN_MINIMUM_BYTES = 128 * 1024, /* DEFAULT_TRIM_THRESHOLD */
    PIN_SHARE = 4,                  /* of the free run that the blocks above may have */
};

static const char heap_path[] = "[heap]";

/*
 * What systrim() can cut off the main top that begins at start and ends at end: all but a
 * minimal chunk, in whole units, and nothing when the break is not where top ends.
 */
static uint64_t cut_of(
    struct glibc_reader *reader, uint64_t thp_bytes, uint64_t start, uint64_t end)
{
    const uint64_t page = reader->memory->page_bytes;
    const struct mapping *behind = glibc_mapping_at(reader, end);
    uint64_t unit = page;

    if (end % page != 0 || (behind != NULL && strcmp(behind->path, heap_path) == 0)) {
        return 0;
    }
    if (thp_bytes >= page && thp_bytes % page == 0) {
        unit = thp_bytes;
    }
    return glibc_align_down(number_subtract(end - start, TOP_KEPT_BYTES), unit);
}

int glibc_sums_add_top(const struct glibc_walk *walk, const struct glibc_extent *extent,
    uint64_t thp_pagesize_bytes, uint64_t top_start, struct glibc_arena *sums)
{
    struct glibc_reader *reader = walk->reader;
    const uint64_t page = reader->memory->page_bytes;
    const uint64_t first = glibc_align_up(walk->top + GLIBC_CHUNK_HEADER_BYTES, page);
    const uint64_t end = glibc_align_down(extent->end, page);
    uint64_t pages, cut;
    int result;

    if (!extent->has_top) {
        return 0;
    }
    result = heap_window_count_resident(&reader->window, first, end, &pages);
    sums->top_resident_bytes = pages * page;
    sums->free_shared_bytes.value +=
        number_subtract(walk->top_bytes, number_subtract(end, first));
    cut = sums->main && sums->contiguous
              ? cut_of(reader, thp_pagesize_bytes, top_start, extent->end)
              : 0;
    if (result < 0 || cut == 0) {
        return result;
    }
    result = heap_window_count_resident(&reader->window, end - cut, end, &pages);
    sums->top_trimmable_bytes = pages * page;
    return result;
}

static void find_pin(const struct glibc_walk *walk, struct glibc_arena *sums)
{
    const struct glibc_sums *found = &walk->position.sums;
    const uint64_t run = found->largest_run_end - found->largest_run_start;
    const uint64_t freed = found->free_bytes + found->fast_bytes;
    uint64_t free_above, in_use_above;

    if (!sums->main || run < PIN_MINIMUM_BYTES || found->largest_run_end >= walk->top) {
        return;
    }
    free_above = freed - found->largest_run_before_bytes - run;
    in_use_above = walk->top - found->largest_run_end - free_above;
    if (in_use_above > 0 && in_use_above <= run / PIN_SHARE) {
        sums->pin_address = found->largest_run_end;
        sums->pin_bytes = in_use_above;
        sums->pinned_free_bytes = run + free_above;
    }
}

void glibc_sums_close(const struct glibc_walk *walk, struct glibc_arena *sums)
{
    const struct glibc_sums *found = &walk->position.sums;
    const uint64_t page = walk->reader->memory->page_bytes;
    uint64_t inside;

    sums->free_bytes = found->free_bytes;
    sums->free_chunks = found->free_chunks;
    sums->fast_bytes = found->fast_bytes;
    sums->fast_chunks = found->fast_chunks;
    sums->largest_free_bytes = found->largest_free_bytes;
    sums->overhead_bytes += found->fence_bytes;
    sums->in_use_bytes = number_subtract(
        sums->in_use_bytes, found->free_bytes + found->fast_bytes + found->fence_bytes);
    sums->in_use_chunks = found->chunks - found->free_chunks - found->fast_chunks;
    sums->resident_bytes = found->resident_pages * page;
    sums->free_resident_bytes = found->run_resident_pages * page;
    sums->free_shared_bytes.value += found->run_shared_bytes;
    sums->free_shared_bytes.state = FACT_OK;
    /* A run below top becomes part of top: cut with it, or kept with it. */
    inside = found->run_resident_pages - walk->top_run_pages;
    sums->trim_gain_bytes = inside * page + sums->top_trimmable_bytes;
    find_pin(walk, sums);
}
