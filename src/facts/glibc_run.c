/*
 * glibc_run.c - runs of free chunks that touch: what malloc_trim() may drop, and the largest.
 *
 * Free chunks that touch are one chunk already, unless fast bins lie between them, which
 * malloc_trim() merges first (mtrim() in malloc/malloc.c); so a run is what it sees.
 */
#include "facts/glibc_run.h"

/*
 * Whole pages that malloc_trim() may drop inside [start, end): the header stays (mtrim()). The
 * rest shares its pages with headers that the walk has read, or will read, so it is resident.
 */
static int count_run_pages(
    struct glibc_walk *walk, uint64_t start, uint64_t end, struct glibc_sums *sums)
{
    const uint64_t page = walk->reader->memory->page_bytes;
    const uint64_t first = glibc_align_up(start + GLIBC_CHUNK_STRUCT_BYTES, page);
    const uint64_t last = glibc_align_down(end, page);
    uint64_t pages = 0;
    int result;

    if (first >= last) {
        sums->run_shared_bytes += end - start;
        return 0;
    }
    result = heap_window_count_resident(&walk->reader->window, first, last, &pages);
    sums->run_resident_pages += pages;
    sums->run_shared_bytes += end - start - (last - first);
    return result;
}

int glibc_run_close(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    struct glibc_sums *sums = &position->sums;
    const uint64_t bytes = position->run_end - position->run_start;
    int result;

    if (position->run_start == 0) {
        return 0;
    }
    result = count_run_pages(walk, position->run_start, position->run_end, sums);
    if (result < 0) {
        return result;
    }
    if (bytes >= sums->largest_run_end - sums->largest_run_start) {
        sums->largest_run_start = position->run_start;
        sums->largest_run_end = position->run_end;
        sums->largest_run_before_bytes = sums->free_bytes + sums->fast_bytes - bytes;
    }
    position->run_start = 0;
    position->run_end = 0;
    return 0;
}

int glibc_run_extend(struct glibc_walk *walk, uint64_t start, uint64_t end)
{
    struct glibc_position *position = &walk->position;

    if (position->run_start == 0 || position->run_end != start) {
        int result = glibc_run_close(walk);
        if (result < 0) {
            return result;
        }
        position->run_start = start;
    }
    position->run_end = end;
    return 0;
}
