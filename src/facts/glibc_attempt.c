/*
 * glibc_attempt.c - one arena read once: its heaps walked, its sums checked.
 *
 * A reading is exact when it closes: every heap was walked to its end, the heaps add up to
 * system_mem, and the malloc_state with its bins is byte for byte the same before and
 * after, so nothing was taken or given back meanwhile.
 */
#include "facts/glibc_attempt.h"

#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "facts/glibc_bins.h"
#include "facts/glibc_sums.h"

static const char why_moves[] = "blocks were taken and given back while it was read";
static const char why_fast[] = "it changed faster than it could be read";
static const char why_walk[] = "its chunks do not follow each other";
static const char why_sum[] = "its heaps do not add up to what it holds";
static const char why_budget[] = "the process has more heap than one reading may cover";
static const char why_top[] = "its top is no chunk";
static const char why_gone[] = "its memory went away while it was read";
static const char why_long[] =
    "its lists of freed blocks lead to and fro for longer than one reading may follow";
static const char why_list[] = "its lists of freed blocks lead to places that are none";

int glibc_arena_reader_init(
    struct glibc_arena_reader *arenas, struct glibc_reader *reader)
{
    *arenas = (struct glibc_arena_reader){.reader = reader, .walk.reader = reader};
    glibc_extents_init(&arenas->extents);
    return glibc_fast_init(&arenas->fast);
}

void glibc_arena_reader_release(struct glibc_arena_reader *arenas)
{
    glibc_fast_release(&arenas->fast);
    glibc_extents_release(&arenas->extents);
    glibc_holes_release(&arenas->holes);
    *arenas = (struct glibc_arena_reader){0};
}

/*
 * The extent to walk next: the one where most lists of fast bins wait, since a list that ascends
 * may go through the heaps in any order; else the lowest. NULL: all were walked.
 */
static struct glibc_extent *next_extent(struct glibc_arena_reader *arenas, size_t *lowest)
{
    struct glibc_extents *extents = &arenas->extents;
    struct glibc_extent *best = NULL;
    uint32_t most = 0;

    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        struct glibc_extent *extent = glibc_extents_at(extents, arenas->sweep.next[bin]);
        if (extent != NULL && !extent->walked) {
            const uint32_t waiting =
                glibc_fast_sweep_waiting(&arenas->sweep, extent->base, extent->end);
            best = waiting > most ? extent : best;
            most = waiting > most ? waiting : most;
        }
    }
    while (*lowest < extents->count && extents->items[*lowest].walked) {
        ++*lowest;
    }
    return best != NULL || *lowest == extents->count ? best : &extents->items[*lowest];
}

/* Walks every extent. 0, or as glibc_walk_extent(). */
static int walk_extents(struct glibc_arena_reader *arenas, struct glibc_attempt *attempt)
{
    struct glibc_walk *walk = &arenas->walk;
    struct glibc_arena *sums = &attempt->sums;
    struct glibc_extent *next;
    size_t lowest = 0;

    for (size_t i = 0; i < arenas->extents.count; i++) {
        arenas->extents.items[i].walked = false;
    }
    while ((next = next_extent(arenas, &lowest)) != NULL) {
        struct glibc_extent extent = *next;
        int result = glibc_walk_extent(walk, &extent);
        next->walked = true;
        if (result == 0) {
            extent.end = walk->extent.end; /* top may have grown */
            result = glibc_sums_add_top(
                walk, &extent, arenas->thp_pagesize_bytes, walk->top_run_start, sums);
        }
        if (result < 0) {
            return result;
        }
        sums->overhead_bytes += extent.start - extent.base;
        sums->in_use_bytes += walk->stop - extent.start;
        sums->held_bytes += extent.end - extent.base;
        if (extent.has_top) {
            sums->top_bytes = walk->top_bytes;
        }
    }
    glibc_sums_close(walk, sums);
    sums->heap_count = arenas->extents.count;
    attempt->hidden_bytes = walk->position.sums.hidden_bytes;
    attempt->gap_bytes = walk->position.sums.gap_bytes;
    return 0;
}

static void begin_walk(
    struct glibc_arena_reader *arenas, const struct glibc_attempt *attempt)
{
    const struct glibc_extents *extents = &arenas->extents;
    struct glibc_walk *walk = &arenas->walk;
    const uint64_t top = walk->top, top_bytes = walk->top_bytes;

    glibc_samples_begin(
        attempt->samples, glibc_state_held(arenas->reader, attempt->state));
    *walk = (struct glibc_walk){
        .reader = arenas->reader,
        .arena = attempt->address,
        .state = attempt->state,
        .sweep = &arenas->sweep,
        .hidden_sizes = glibc_fast_sweep_cut_sizes(&arenas->sweep),
        .lowest = extents->items[0].base,
        .highest = extents->items[extents->count - 1].end,
        .rewinds_left = GLIBC_WALK_REWINDS,
        .top = top,
        .top_bytes = top_bytes,
        .places_left = GLIBC_WALK_PLACES,
        .samples = attempt->samples,
        .holes = &arenas->holes,
    };
    walk->position.tcache_count = arenas->reader->tcache_count;
}

bool glibc_is_about_content(int result)
{
    return result == -EAGAIN || result == -EBADMSG || result == -ENODATA ||
           result == -EFAULT || result == -EBUSY;
}

static const char *reason_of(int result)
{
    switch (-result) {
    case EAGAIN:
        return why_fast;
    case EBUSY:
        return why_budget;
    case EBADMSG:
        return why_walk;
    default:
        return why_gone;
    }
}

/* The same sums for a main arena of several pieces, from its lists. */
static int read_lists(struct glibc_arena_reader *arenas, struct glibc_attempt *attempt)
{
    struct glibc_reader *reader = arenas->reader;
    struct glibc_arena *sums = &attempt->sums;
    const uint64_t held = glibc_state_held(reader, attempt->state);
    const uint64_t page = reader->memory->page_bytes;
    struct glibc_bin_sums bins = {.free_bytes = 0};
    int result = glibc_fast_sweep_finish(&arenas->sweep);

    attempt->samples->count = 0;
    if (result == 0) {
        result = glibc_bins_read(reader, attempt->address, attempt->state, &bins);
    }
    if (result < 0) {
        return result;
    }
    attempt->hidden_bytes = arenas->sweep.cut_bins != 0 ? held : 0;
    *sums = (struct glibc_arena){.address = attempt->address,
        .main = true,
        .contiguous = sums->contiguous,
        .held_bytes = held,
        .heap_count = arenas->extents.count,
        .free_bytes = bins.free_bytes,
        .free_chunks = bins.free_chunks,
        .fast_bytes = arenas->fast.bytes,
        .fast_chunks = arenas->fast.count,
        .largest_free_bytes = bins.largest_bytes,
        .top_bytes = arenas->walk.top_bytes,
        .free_resident_bytes = bins.resident_pages * page,
        .free_shared_bytes = {
            .value = bins.shared_bytes + arenas->fast.bytes, .state = FACT_OK}};
    /* Fence posts and the space between the pieces cannot be told from blocks. */
    sums->in_use_bytes =
        number_subtract(held, sums->free_bytes + sums->fast_bytes + sums->top_bytes);
    for (size_t i = 0; i < arenas->extents.count && result == 0; i++) {
        const struct glibc_extent *extent = &arenas->extents.items[i];
        uint64_t pages = 0;
        result = heap_window_count_resident(&reader->window,
            glibc_align_down(extent->base, page), glibc_align_up(extent->end, page),
            &pages);
        sums->resident_bytes += pages * page;
        if (result == 0) {
            result = glibc_sums_add_top(&arenas->walk, extent, arenas->thp_pagesize_bytes,
                arenas->walk.top, sums);
        }
    }
    sums->trim_gain_bytes = sums->free_resident_bytes + sums->top_trimmable_bytes;
    return result;
}

/* Each may divide a window in two, so as many more may be loaded. */
static int find_holes(
    struct glibc_arena_reader *arenas, const struct glibc_attempt *attempt)
{
    struct glibc_reader *reader = arenas->reader;
    const struct glibc_extents *extents = &arenas->extents;
    int result = glibc_holes_find(&arenas->holes, reader, attempt->address,
        attempt->state, extents->items[0].base, extents->items[extents->count - 1].end);

    reader->loads_left += arenas->holes.count;
    return result;
}

/*
 * Walks the heaps while the fast bins that ascend are followed. When that was not enough, for
 * lists that lead to and fro, they are followed to their ends and the heaps walked again.
 */
static int walk_with_lists(
    struct glibc_arena_reader *arenas, struct glibc_attempt *attempt)
{
    struct glibc_fast_sweep *sweep = &arenas->sweep;
    const struct glibc_arena none = attempt->sums;
    const uint32_t cut_bins = sweep->cut_bins;
    int result;

    result = find_holes(arenas, attempt);
    if (result < 0) {
        return result;
    }
    begin_walk(arenas, attempt);
    result = walk_extents(arenas, attempt);
    if (result < 0 || sweep->torn ||
        (glibc_fast_sweep_ended(sweep) && !sweep->late && sweep->cut_bins == cut_bins)) {
        return result;
    }
    result = glibc_fast_sweep_finish(sweep);
    if (result < 0) {
        return result;
    }
    attempt->sums = none;
    begin_walk(arenas, attempt);
    return walk_extents(arenas, attempt);
}

/* Top, heaps, fast bins, chunks. 0 when all were read, whether or not they agree. */
static int read_parts(struct glibc_arena_reader *arenas, struct glibc_attempt *attempt)
{
    struct glibc_reader *reader = arenas->reader;
    struct glibc_walk *walk = &arenas->walk;
    int listed;
    int result =
        glibc_walk_read_top(reader, attempt->address, &walk->top, &walk->top_bytes);

    if (result < 0) {
        attempt->why = result == -EBADMSG ? why_top : NULL;
        return result;
    }
    listed = glibc_extents_list(reader, attempt->address, attempt->state, walk->top,
        walk->top_bytes, &arenas->extents);
    if (listed < 0 && listed != -EXDEV) {
        attempt->why = arenas->extents.why;
        return listed;
    }
    glibc_fast_sweep_begin(&arenas->sweep, reader, attempt->state, &arenas->fast);
    result = glibc_fast_sweep_ahead(&arenas->sweep);
    if (result < 0) {
        return result;
    }
    result = listed < 0 ? listed : walk_with_lists(arenas, attempt);
    return result == -EXDEV ? read_lists(arenas, attempt) : result;
}

/* All parts were read: do they agree with each other and with the header, before and now? */
static void judge_parts(
    const struct glibc_arena_reader *arenas, bool still, struct glibc_attempt *attempt)
{
    if (!still || attempt->gap_bytes > 0) {
        attempt->outcome = OUTCOME_MOVED;
        attempt->why = why_moves;
    } else if (attempt->sums.held_bytes !=
               glibc_state_held(arenas->reader, attempt->state)) {
        attempt->outcome = OUTCOME_UNFIT;
        attempt->why = why_sum;
    } else if (arenas->sweep.torn || arenas->sweep.cut_bins != 0) {
        attempt->outcome = OUTCOME_LISTS;
        attempt->why = arenas->sweep.torn ? why_list : why_long;
    } else {
        attempt->outcome = OUTCOME_CLOSED;
    }
}

int glibc_attempt_read(struct glibc_arena_reader *arenas, struct glibc_attempt *attempt)
{
    struct glibc_reader *reader = arenas->reader;
    uint8_t after[GLIBC_STATE_MAXIMUM_BYTES];
    bool still;
    int result, parts;

    attempt->samples->count = 0;
    attempt->sums.address = attempt->address;
    attempt->sums.main = attempt->address == reader->main_arena;
    attempt->outcome = OUTCOME_TORN;
    attempt->why = why_gone;
    result = glibc_state_read(reader, attempt->address, attempt->state);
    if (result < 0) {
        return glibc_is_about_content(result) ? 0 : result;
    }
    attempt->sums.contiguous =
        attempt->sums.main && glibc_state_contiguous(attempt->state);
    if (glibc_state_held(reader, attempt->state) == 0) {
        arenas->extents.count = 0;
        attempt->outcome = OUTCOME_CLOSED;
        attempt->why = NULL;
        return 0;
    }
    attempt->why = NULL;
    parts = read_parts(arenas, attempt);
    if (parts < 0 && !glibc_is_about_content(parts)) {
        return parts;
    }
    result = glibc_state_read(reader, attempt->address, after);
    if (result < 0) {
        attempt->why = why_gone;
        return glibc_is_about_content(result) ? 0 : result;
    }
    still = glibc_state_same(reader->layout, attempt->state, after) &&
            !glibc_state_locked(after);
    if (parts == 0) {
        judge_parts(arenas, still, attempt);
        return 0;
    }
    if (attempt->why == NULL) {
        attempt->why = reason_of(parts);
    }
    if (parts == -EBUSY) {
        attempt->outcome = OUTCOME_SPENT;
    } else {
        attempt->outcome = still ? OUTCOME_UNFIT : OUTCOME_TORN;
    }
    return 0;
}
