/*
 * glibc_arena.c - one arena: its heaps walked, its sums checked, its give-back predicted.
 *
 * A reading is exact when it closes: every heap was walked to its end, the heaps add up to
 * system_mem, and the malloc_state with its bins is byte for byte the same before and
 * after, so nothing was taken or given back meanwhile (blocks that a thread's tcache serves
 * do not count: they stay in use for the arena). Otherwise it is read again. When it moves
 * each time, the last two walks are compared part by part: the bytes by which the parts
 * differ tell how fast the arena changes, and twice that is the stated uncertainty.
 *
 * What malloc_trim(0) gives back follows mtrim() and systrim() of malloc/malloc.c: fast bins
 * are merged, whole pages inside free chunks are dropped, and only the main arena's top is
 * cut, leaving MINSIZE + 1 bytes, in pages or in huge pages.
 */
#include "facts/glibc_arena.h"

#include <errno.h>
#include <stdlib.h>

#include "base/number.h"
#include "facts/glibc_bins.h"
#include "facts/glibc_find.h"
#include "facts/root.h"
#include "facts/span_list.h"

enum {
    ATTEMPTS = 4,
    FLAGS_OFFSET = 4,
    NONCONTIGUOUS_FLAG = 2,
    UNCERTAINTY_FACTOR = 2,
    TOP_KEPT_BYTES = GLIBC_CHUNK_MINIMUM_BYTES + 1,
    PIN_MINIMUM_BYTES = 128 * 1024, /* DEFAULT_TRIM_THRESHOLD */
    PIN_SHARE = 4,                  /* of the free run that the blocks above may have */
};

static const char heap_path[] = "[heap]";

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
    *arenas = (struct glibc_arena_reader){.reader = reader};
    glibc_extents_init(&arenas->extents);
    arenas->slots = calloc((size_t)GLIBC_WALK_SLOTS * 2, sizeof(*arenas->slots));
    return arenas->slots == NULL ? -ENOMEM : glibc_fast_init(&arenas->fast);
}

void glibc_arena_reader_release(struct glibc_arena_reader *arenas)
{
    glibc_fast_release(&arenas->fast);
    glibc_extents_release(&arenas->extents);
    free(arenas->slots);
    *arenas = (struct glibc_arena_reader){0};
}

/* How one reading of an arena went. */
enum outcome {
    OUTCOME_CLOSED, /* exact */
    OUTCOME_MOVED,  /* all was walked, but the arena changed meanwhile */
    OUTCOME_LISTS,  /* exact, but for the fast bins */
    OUTCOME_TORN,   /* not all could be walked: the arena changes too fast */
    OUTCOME_UNFIT,  /* nothing moved and it still makes no sense */
    OUTCOME_SPENT,  /* the budget of the reading is used up */
};

struct attempt {
    uint64_t address;
    uint8_t state[GLIBC_STATE_MAXIMUM_BYTES];
    struct glibc_arena sums;
    uint64_t hidden_bytes; /* counted as in use, but perhaps in fast bins */
    enum outcome outcome;
    const char *why; /* NULL when it closed */
};

static uint64_t held_of(const struct glibc_reader *reader, const uint8_t *state)
{
    return glibc_word(state + reader->layout->state.system_mem);
}

static int read_state(struct glibc_reader *reader, uint64_t address, uint8_t *state)
{
    return memory_read_present(
        reader->memory, address, state, reader->layout->state.bytes);
}

/* Fast bins, top and bins are compared; lock, lists of arenas and threads may differ. */
static uint32_t first_compared(const struct glibc_layout *layout)
{
    return layout->state.fast_bins != 0 ? layout->state.fast_bins : layout->state.top;
}

static bool is_same_state(
    const struct glibc_layout *layout, const uint8_t *before, const uint8_t *after)
{
    const uint32_t first = first_compared(layout);

    return memcmp(before + first, after + first, layout->state.next - first) == 0 &&
           glibc_word(before + layout->state.system_mem) ==
               glibc_word(after + layout->state.system_mem);
}

/*
 * What systrim() can cut off the main top that begins at start and ends at end: all but a
 * minimal chunk, in whole units, and nothing when the break is not where top ends.
 */
static uint64_t cut_of(
    const struct glibc_arena_reader *arenas, uint64_t start, uint64_t end)
{
    const uint64_t page = arenas->reader->memory->page_bytes;
    const struct mapping *behind = glibc_mapping_at(arenas->reader, end);
    uint64_t unit = page;

    if (end % page != 0 || (behind != NULL && strcmp(behind->path, heap_path) == 0)) {
        return 0;
    }
    if (arenas->thp_pagesize_bytes >= page && arenas->thp_pagesize_bytes % page == 0) {
        unit = arenas->thp_pagesize_bytes;
    }
    return glibc_align_down(number_subtract(end - start, TOP_KEPT_BYTES), unit);
}

/* The part of the header that every change of the arena shows in; FNV-1a over words. */
static uint64_t fingerprint(const struct glibc_layout *layout, const uint8_t *state)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t at = first_compared(layout); at < layout->state.next; at += 8) {
        hash = (hash ^ glibc_word(state + at)) * prime;
    }
    return (hash ^ glibc_word(state + layout->state.system_mem)) * prime;
}

/* Resident pages of the extent's top, and its ends; what cutting the main top gives. */
static int add_top_pages(struct glibc_arena_reader *arenas,
    const struct glibc_extent *extent, uint64_t top_start, struct glibc_arena *sums)
{
    struct glibc_reader *reader = arenas->reader;
    const uint64_t page = reader->memory->page_bytes;
    const uint64_t first =
        glibc_align_up(arenas->walk.top + GLIBC_CHUNK_HEADER_BYTES, page);
    const uint64_t end = glibc_align_down(extent->end, page);
    uint64_t pages, cut;
    int result;

    if (!extent->has_top) {
        return 0;
    }
    result = heap_window_count_resident(&reader->window, first, end, &pages);
    sums->top_resident_bytes = pages * page;
    sums->free_shared_bytes.value +=
        number_subtract(arenas->walk.top_bytes, number_subtract(end, first));
    cut = sums->main && sums->contiguous ? cut_of(arenas, top_start, extent->end) : 0;
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

/* Turns the sums of the walks over all extents into those of the arena. */
static void close_sums(struct glibc_arena_reader *arenas, struct glibc_arena *sums)
{
    const struct glibc_walk *walk = &arenas->walk;
    const struct glibc_sums *found = &walk->position.sums;
    const uint64_t page = arenas->reader->memory->page_bytes;
    uint64_t inside;

    sums->free_bytes = found->free_bytes;
    sums->free_chunks = found->free_chunks;
    sums->fast_bytes = found->fast_bytes;
    sums->fast_chunks = found->fast_chunks;
    sums->largest_free_bytes = found->largest_free_bytes;
    sums->overhead_bytes += found->fence_bytes;
    sums->in_use_bytes -= found->free_bytes + found->fast_bytes + found->fence_bytes;
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
static int walk_extents(struct glibc_arena_reader *arenas, struct attempt *attempt)
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
            result = add_top_pages(arenas, &extent, walk->top_run_start, sums);
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
    close_sums(arenas, sums);
    sums->heap_count = arenas->extents.count;
    attempt->hidden_bytes = walk->position.sums.hidden_bytes;
    return 0;
}

static void begin_walk(struct glibc_arena_reader *arenas, const struct attempt *attempt)
{
    const uint64_t held = held_of(arenas->reader, attempt->state);
    const struct glibc_extents *extents = &arenas->extents;
    struct glibc_walk *walk = &arenas->walk;
    const uint64_t top = walk->top, top_bytes = walk->top_bytes;

    memset(arenas->slots, 0, GLIBC_WALK_SLOTS * sizeof(*arenas->slots));
    *walk = (struct glibc_walk){
        .reader = arenas->reader,
        .arena = attempt->address,
        .sweep = &arenas->sweep,
        .hidden_sizes = glibc_fast_sweep_cut_sizes(&arenas->sweep),
        .lowest = extents->items[0].base,
        .highest = extents->items[extents->count - 1].end,
        .rewinds_left = GLIBC_WALK_REWINDS,
        .top = top,
        .top_bytes = top_bytes,
        .slots = arenas->slots,
        .slot_bytes = held / (GLIBC_WALK_SLOTS / 2) + HEAP_WINDOW_BYTES,
    };
    walk->position.tcache_count = arenas->reader->tcache_count;
}

/* Errors of a part that mean: the target moved, or lies. Others end the reading. */
static bool is_about_content(int result)
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
static int read_lists(struct glibc_arena_reader *arenas, struct attempt *attempt)
{
    struct glibc_reader *reader = arenas->reader;
    struct glibc_arena *sums = &attempt->sums;
    const uint64_t held = held_of(reader, attempt->state);
    const uint64_t page = reader->memory->page_bytes;
    struct glibc_bin_sums bins = {.free_bytes = 0};
    int result = glibc_fast_sweep_finish(&arenas->sweep);

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
            result = add_top_pages(arenas, extent, arenas->walk.top, sums);
        }
    }
    sums->trim_gain_bytes = sums->free_resident_bytes + sums->top_trimmable_bytes;
    return result;
}

/*
 * Walks the heaps while the fast bins that ascend are followed. When that was not enough, for
 * lists that lead to and fro, they are followed to their ends and the heaps walked again.
 */
static int walk_with_lists(struct glibc_arena_reader *arenas, struct attempt *attempt)
{
    struct glibc_fast_sweep *sweep = &arenas->sweep;
    const struct glibc_arena none = attempt->sums;
    const uint32_t cut_bins = sweep->cut_bins;
    int result;

    /* The slots of the attempt before stay in the other half. */
    memcpy(arenas->slots + GLIBC_WALK_SLOTS, arenas->slots,
        GLIBC_WALK_SLOTS * sizeof(*arenas->slots));
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
static int read_parts(struct glibc_arena_reader *arenas, struct attempt *attempt)
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
    const struct glibc_arena_reader *arenas, bool still, struct attempt *attempt)
{
    if (!still) {
        attempt->outcome = OUTCOME_MOVED;
        attempt->why = why_moves;
    } else if (attempt->sums.held_bytes != held_of(arenas->reader, attempt->state)) {
        attempt->outcome = OUTCOME_UNFIT;
        attempt->why = why_sum;
    } else if (arenas->sweep.torn || arenas->sweep.cut_bins != 0) {
        attempt->outcome = OUTCOME_LISTS;
        attempt->why = arenas->sweep.torn ? why_list : why_long;
    } else {
        attempt->outcome = OUTCOME_CLOSED;
    }
}

/* Reads the arena once and judges the reading. 0, or -errno that ends all reading. */
static int read_once(struct glibc_arena_reader *arenas, struct attempt *attempt)
{
    struct glibc_reader *reader = arenas->reader;
    uint8_t after[GLIBC_STATE_MAXIMUM_BYTES];
    bool still;
    int result, parts;

    attempt->sums.address = attempt->address;
    attempt->sums.main = attempt->address == reader->main_arena;
    attempt->outcome = OUTCOME_TORN;
    attempt->why = why_gone;
    result = read_state(reader, attempt->address, attempt->state);
    if (result < 0) {
        return is_about_content(result) ? 0 : result;
    }
    attempt->sums.contiguous =
        attempt->sums.main &&
        (glibc_half_word(attempt->state + FLAGS_OFFSET) & NONCONTIGUOUS_FLAG) == 0;
    if (held_of(reader, attempt->state) == 0) {
        arenas->extents.count = 0;
        attempt->outcome = OUTCOME_CLOSED;
        attempt->why = NULL;
        return 0;
    }
    attempt->why = NULL;
    parts = read_parts(arenas, attempt);
    if (parts < 0 && !is_about_content(parts)) {
        return parts;
    }
    result = read_state(reader, attempt->address, after);
    if (result < 0) {
        attempt->why = why_gone;
        return is_about_content(result) ? 0 : result;
    }
    /* A thread inside malloc() holds the lock: what it leaves half done is no damage. */
    still = is_same_state(reader->layout, attempt->state, after) &&
            glibc_half_word(after) == 0;
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

/* What differs between the last two walks, part by part. */
static uint64_t changed_bytes(const struct glibc_arena_reader *arenas)
{
    const uint64_t *last = arenas->slots, *before = arenas->slots + GLIBC_WALK_SLOTS;
    uint64_t changed = 0;

    for (size_t i = 0; i < GLIBC_WALK_SLOTS; i++) {
        changed += last[i] > before[i] ? last[i] - before[i] : before[i] - last[i];
    }
    return changed;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* What the header says, whatever became of the walk. */
static void use_header(
    struct glibc_reader *reader, const struct attempt *attempt, struct glibc_arena *arena)
{
    const struct glibc_state_layout *layout = &reader->layout->state;

    arena->contiguous = arena->main && (glibc_half_word(attempt->state + FLAGS_OFFSET) &
                                           NONCONTIGUOUS_FLAG) == 0;
    arena->held_peak_bytes = glibc_word(attempt->state + layout->max_system_mem);
    arena->attached_threads = glibc_word(attempt->state + layout->attached_threads);
}

/* The figures of the attempt, if it has any, with the verdict that its outcome means. */
static int use_attempt(struct glibc_arena_reader *arenas, const struct attempt *attempt,
    struct glibc_arena *arena)
{
    static const uint32_t verdicts[] = {
        [OUTCOME_CLOSED] = FACT_OK,
        [OUTCOME_MOVED] = FACT_STALE,
        [OUTCOME_LISTS] = FACT_STALE,
        [OUTCOME_TORN] = FACT_STALE,
        [OUTCOME_UNFIT] = FACT_MALFORMED,
        [OUTCOME_SPENT] = FACT_STALE,
    };
    struct glibc_reader *reader = arenas->reader;
    const uint64_t held = held_of(reader, attempt->state);

    if (attempt->outcome == OUTCOME_CLOSED || attempt->outcome == OUTCOME_MOVED ||
        attempt->outcome == OUTCOME_LISTS) {
        *arena = attempt->sums;
        arena->resident_state = FACT_OK;
    } else {
        /* All that is known is what the arena holds: in use is anything up to that. */
        *arena = (struct glibc_arena){.address = attempt->address,
            .main = attempt->sums.main,
            .contiguous = attempt->sums.contiguous,
            .held_bytes = held,
            .in_use_bytes = held,
            .resident_state = FACT_ABSENT};
    }
    arena->plus_minus_bytes = held;
    if (attempt->outcome == OUTCOME_CLOSED) {
        arena->plus_minus_bytes = 0;
    } else if (attempt->outcome == OUTCOME_LISTS && !arenas->sweep.torn) {
        arena->plus_minus_bytes = attempt->hidden_bytes;
    }
    arena->state = verdicts[attempt->outcome];
    use_header(reader, attempt, arena);
    if (attempt->why != NULL) {
        arena->why = region_copy_text(reader->region, attempt->why);
        return arena->why == NULL ? -ENOMEM : 0;
    }
    return 0;
}

/* Nothing in an arena can be wrong by more than all of it. */
static void limit_uncertainty(struct glibc_arena *arena)
{
    const uint64_t held = arena->held_bytes > arena->held_peak_bytes
                              ? arena->held_bytes
                              : arena->held_peak_bytes;

    if (arena->plus_minus_bytes > held) {
        arena->plus_minus_bytes = held;
    }
}

/* Two walks in a row went through: how far apart they are bounds what the last one says. */
static void narrow(const struct glibc_arena_reader *arenas, const struct attempt *last,
    const struct glibc_arena *before, struct glibc_arena *arena)
{
    arena->plus_minus_bytes =
        UNCERTAINTY_FACTOR *
            (changed_bytes(arenas) + distance(last->sums.top_bytes, before->top_bytes) +
                distance(last->sums.held_bytes, before->held_bytes)) +
        distance(held_of(arenas->reader, last->state), last->sums.held_bytes) +
        last->hidden_bytes;
    limit_uncertainty(arena);
}

/* The heaps of the arena as spans of the process. */
static int add_spans(struct glibc_arena_reader *arenas, uint32_t index, bool main)
{
    struct glibc_reader *reader = arenas->reader;

    for (size_t i = 0; i < arenas->extents.count; i++) {
        const struct glibc_extent *extent = &arenas->extents.items[i];
        struct span span = {.start = extent->base, .end = extent->end, .index = index};
        int result;
        span.owner = main ? SPAN_GLIBC_MAIN_HEAP : SPAN_GLIBC_ARENA_HEAP;
        if (!main) {
            span.end = span.start + reader->heap_bytes; /* reserved for it */
        }
        result = span_list_add(reader->memory, reader->region, reader->process, &span);
        if (result == -ENOMEM) {
            return result;
        }
    }
    return 0;
}

int glibc_arena_read(struct glibc_arena_reader *arenas, uint64_t address, uint32_t index,
    struct glibc_arena *arena, uint64_t *mark)
{
    struct glibc_reader *reader = arenas->reader;
    struct attempt attempt;
    struct glibc_arena before = {0};
    bool has_before = false;
    int result;

    for (int i = 0; i < ATTEMPTS; i++) {
        attempt = (struct attempt){.address = address};
        result = read_once(arenas, &attempt);
        if (result < 0) {
            return result;
        }
        if (attempt.outcome == OUTCOME_CLOSED || attempt.outcome == OUTCOME_LISTS ||
            attempt.outcome == OUTCOME_SPENT ||
            (attempt.outcome == OUTCOME_MOVED && has_before)) {
            break;
        }
        has_before = attempt.outcome == OUTCOME_MOVED;
        before = attempt.sums;
    }
    result = use_attempt(arenas, &attempt, arena);
    if (result < 0) {
        return result;
    }
    if (attempt.outcome == OUTCOME_MOVED && has_before) {
        narrow(arenas, &attempt, &before, arena);
    }
    *mark = fingerprint(reader->layout, attempt.state);
    reader->tcache_count = arenas->walk.position.tcache_count;
    return add_spans(arenas, index, arena->main);
}

int glibc_arena_check(
    struct glibc_arena_reader *arenas, uint64_t mark, struct glibc_arena *arena)
{
    struct attempt attempt = {.address = arena->address};
    struct glibc_reader *reader = arenas->reader;
    int result;

    if (arena->state != FACT_OK) {
        return 0;
    }
    result = read_state(reader, arena->address, attempt.state);
    if (result < 0) {
        return is_about_content(result) ? 0 : result;
    }
    if (fingerprint(reader->layout, attempt.state) == mark) {
        return 0;
    }
    result = read_once(arenas, &attempt);
    if (result < 0) {
        return result;
    }
    arena->state = FACT_STALE;
    arena->plus_minus_bytes = arena->held_bytes;
    if (attempt.outcome == OUTCOME_CLOSED || attempt.outcome == OUTCOME_MOVED) {
        arena->plus_minus_bytes =
            UNCERTAINTY_FACTOR *
            (distance(attempt.sums.in_use_bytes, arena->in_use_bytes) +
                distance(attempt.sums.top_bytes, arena->top_bytes) +
                distance(attempt.sums.free_bytes, arena->free_bytes));
    }
    limit_uncertainty(arena);
    arena->why = region_copy_text(reader->region, why_moves);
    return arena->why == NULL ? -ENOMEM : 0;
}
