/*
 * glibc_walk.c - the linear walk over the chunks of a heap.
 *
 * Chunks tile a heap without gaps: the size word of each gives the address of the next,
 * and its lowest bit tells whether the chunk below is in use (malloc/malloc.c, "Chunk
 * representation"). So free bytes are exact without following any list, and each byte is
 * read once. Chunks in fast bins look like in use and come from a list.
 *
 * The target runs meanwhile. The memory is read in windows; two windows may be of different
 * moments, and then a chunk of the first ends inside a chunk of the second. Once the arena's
 * header has changed, so that the reading cannot be exact any more, the walk goes on at the next
 * place that fits and says how much it left out. Before that, what does not fit is read again
 * from a checkpoint one, two or four windows back, and bytes that stay the same and
 * still make no sense are damage. The top pointer is read again whenever the walk meets it at
 * the wrong place. Every loop is bounded by rewinds_left, places_left and by the reader's
 * loads_left.
 *
 * Not thread safe; all state is in struct glibc_walk.
 */
#include "facts/glibc_walk.h"

#include <errno.h>

#include "facts/glibc_chunk.h"
#include "facts/glibc_gap.h"
#include "facts/glibc_run.h"
#include "facts/glibc_state.h"

enum {
    SIZE_OFFSET = 8,
    LARGEST_REWIND = 4,
    TOP_READS = 8,
    EDGE_BYTES = GLIBC_CHUNK_ALIGN, /* a chunk here has its size in view, not its link */
    /* A plain chunk has exactly the first of these bits set. */
    PLAIN_MASK = GLIBC_PREV_IN_USE | GLIBC_IS_MMAPPED | 8,
    FREE_MASK = GLIBC_IS_MMAPPED | 8,
};

static uint64_t size_of(uint64_t header)
{
    return header & ~(uint64_t)GLIBC_SIZE_BITS;
}

static bool is_sane_size(uint64_t size)
{
    return size >= GLIBC_CHUNK_MINIMUM_BYTES && size <= glibc_maximum_bytes;
}

int glibc_walk_read_top(
    struct glibc_reader *reader, uint64_t arena, uint64_t *top, uint64_t *top_bytes)
{
    const uint64_t field = arena + reader->layout->state.top;
    uint64_t first = 0, again = 0, header = 0;

    for (int i = 0; i < TOP_READS; i++) {
        int result = memory_read_word(reader->memory, field, &first);
        if (result == 0 && (first % GLIBC_CHUNK_ALIGN != 0 ||
                               first > UINT64_MAX - glibc_maximum_bytes)) {
            return -EBADMSG;
        }
        if (result == 0) {
            result = memory_read_word(reader->memory, first + SIZE_OFFSET, &header);
        }
        if (result == 0) {
            result = memory_read_word(reader->memory, field, &again);
        }
        if (result == 0 && first == again) {
            *top = first;
            *top_bytes = size_of(header);
            /* One chunk of an empty arena may be smaller than MINSIZE, never 0. */
            return *top_bytes == 0 || *top_bytes > glibc_maximum_bytes ? -EBADMSG : 0;
        }
        if (result < 0 && result != -ENODATA && result != -EFAULT) {
            return result;
        }
    }
    return first == again ? -EBADMSG : -EAGAIN;
}

/*
 * The loop that everything else is built around: passes over chunks in use that lie
 * above chunks in use, up to limit or to the first chunk that needs a closer look.
 */
static void pass_plain_chunks(struct glibc_walk *walk, uint64_t limit)
{
    const uint8_t *data = walk->reader->window.data;
    const uint64_t start = walk->reader->window.start;
    const uint64_t tcache_bytes = walk->reader->layout->tcache.chunk_bytes;
    const uint64_t fast = walk->next_fast;
    const bool may_hide = walk->hidden_sizes != 0;
    uint64_t at = walk->position.at, previous = walk->position.previous, chunks = 0;
    uint64_t hidden_bytes = 0;

    while (at < limit) {
        const uint64_t header = glibc_word(data + (at - start) + SIZE_OFFSET);
        const uint64_t size = size_of(header);
        if ((header & PLAIN_MASK) != GLIBC_PREV_IN_USE || !is_sane_size(size) ||
            at >= fast || size == tcache_bytes) {
            break;
        }
        if (may_hide) {
            hidden_bytes += glibc_chunk_hidden_bytes(walk, data + (at - start), at, size);
        }
        previous = at;
        at += size;
        chunks++;
    }
    walk->position.at = at;
    walk->position.previous = previous;
    walk->position.sums.chunks += chunks;
    walk->position.sums.hidden_bytes += hidden_bytes;
}

static int misfit(struct glibc_walk *walk, uint64_t header)
{
    const uint64_t at = walk->position.at;

    if (walk->misfit_at == at && walk->misfit_header == header) {
        walk->misfit_repeats++;
    } else {
        walk->misfit_at = at;
        walk->misfit_header = header;
        walk->misfit_repeats = 0;
    }
    return -ESTALE;
}

/* The chunk below position.at is free: its footer must tell the same size. */
static int take_free_below(struct glibc_walk *walk, const uint8_t *chunk)
{
    struct glibc_position *position = &walk->position;
    const uint64_t size = position->at - position->previous;
    const bool was_fast = glibc_fast_has(walk->sweep->set, position->previous);

    if (position->behind_gap && position->previous == 0) {
        return 0;
    }
    if (position->previous == 0 || glibc_word(chunk) != size || was_fast) {
        return misfit(walk, glibc_word(chunk));
    }
    int result = glibc_run_extend(walk, position->previous, position->at);
    position->sums.free_bytes += size; /* the run that has ended counts what was before */
    position->sums.free_chunks++;
    if (size > position->sums.largest_free_bytes) {
        position->sums.largest_free_bytes = size;
    }
    return result;
}

/* Looks no further than the view: a forged top may be at the end of the address space. */
static void find_next_fast(struct glibc_walk *walk)
{
    const uint64_t end = walk->reader->window.end;

    walk->next_fast = glibc_fast_next(
        walk->sweep->set, walk->position.at, end < walk->stop ? end : walk->stop);
}

/* Ends the stretch that is sampled, before the chunk at position.at. */
static int end_sample(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;

    return glibc_sampler_end(
        &position->sampler, walk->samples, position->at, position->sums.free_bytes);
}

/* The chunk at position.at, whatever it is. 0, or -ESTALE when it does not fit. */
static int take_chunk(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    struct glibc_reader *reader = walk->reader;
    const uint8_t *chunk = reader->window.data + (position->at - reader->window.start);
    const uint64_t header = glibc_word(chunk + SIZE_OFFSET);
    const uint64_t size = size_of(header);
    const uint64_t fence = glibc_chunk_fence_bytes(walk, size);
    int result = 0;

    if (glibc_chunk_is_foreign_break(walk, chunk)) {
        return -EXDEV;
    }
    if ((header & FREE_MASK) != 0 || (fence == 0 && !is_sane_size(size))) {
        return misfit(walk, header);
    }
    if (fence != 0) {
        result = end_sample(walk);
    }
    if (result == 0 && (header & GLIBC_PREV_IN_USE) == 0) {
        result = take_free_below(walk, chunk);
    }
    if (result < 0) {
        return result;
    }
    if (fence != 0) {
        position->sums.fence_bytes += fence;
        position->at = walk->extent.end;
        return 0;
    }
    if (walk->next_fast < position->at) {
        find_next_fast(walk); /* one that was listed is no chunk: the list was torn */
    }
    if (walk->next_fast == position->at) {
        result = glibc_run_extend(walk, position->at, position->at + size);
        if (result < 0) {
            return result;
        }
        position->sums.fast_bytes += size;
        position->sums.fast_chunks++;
    } else if (size == reader->layout->tcache.chunk_bytes) {
        glibc_chunk_take_tcache(walk, chunk);
    } else {
        position->sums.hidden_bytes +=
            glibc_chunk_hidden_bytes(walk, chunk, walk->position.at, size);
    }
    position->previous = position->at;
    position->at += size;
    position->sums.chunks++;
    if (walk->next_fast == position->previous) {
        find_next_fast(walk);
    }
    return 0;
}

/* Counts the resident pages up to end; from the view, where that has been loaded. */
static int count_to(struct glibc_walk *walk, uint64_t end)
{
    struct glibc_position *position = &walk->position;
    uint64_t pages;
    int result;

    if (end <= position->counted_end) {
        return 0;
    }
    result = heap_window_count_resident(
        &walk->reader->window, position->counted_end, end, &pages);
    if (result == 0) {
        position->sums.resident_pages += pages;
        position->counted_end = end;
    }
    return result;
}

static int load_window(struct glibc_walk *walk)
{
    struct glibc_reader *reader = walk->reader;
    const uint64_t at = walk->position.at;
    uint64_t end = walk->extent.end;
    int result;

    if (walk->holes != NULL) {
        end = glibc_holes_next(walk->holes, at + EDGE_BYTES, end);
    }
    if (reader->loads_left == 0) {
        return -EBUSY;
    }
    reader->loads_left--;
    walk->checkpoints[walk->checkpoint_count % GLIBC_WALK_CHECKPOINTS] = walk->position;
    walk->checkpoint_count++;
    result = heap_window_load(&reader->window, at, end);
    if (result == 0 && !glibc_fast_sweep_ended(walk->sweep)) {
        result = glibc_fast_sweep_view(walk->sweep, walk->position.at);
    }
    find_next_fast(walk);
    if (result == 0) {
        result = count_to(walk, reader->window.start);
    }
    return result < 0 ? result : count_to(walk, reader->window.end);
}

/* Back to where the walk was some windows ago, which are then read again. */
static int go_back(struct glibc_walk *walk)
{
    uint64_t steps = UINT64_C(1) << walk->misfit_repeats;

    if (steps > LARGEST_REWIND) {
        return -EBADMSG;
    }
    if (walk->rewinds_left == 0) {
        return -EAGAIN;
    }
    walk->rewinds_left--;
    if (steps > walk->checkpoint_count) {
        steps = walk->checkpoint_count;
    }
    walk->checkpoint_count -= steps;
    if (steps > 0) {
        walk->position =
            walk->checkpoints[walk->checkpoint_count % GLIBC_WALK_CHECKPOINTS];
    }
    walk->reader->window.end = walk->reader->window.start;
    return 0;
}

/* The header of the arena is no longer what it was before the walk. */
static bool has_moved(struct glibc_walk *walk)
{
    uint8_t now[GLIBC_STATE_MAXIMUM_BYTES];

    walk->moved =
        walk->moved || (glibc_state_read(walk->reader, walk->arena, now) == 0 &&
                           !glibc_state_same(walk->reader->layout, walk->state, now));
    return walk->moved;
}

/* The chunk seen last was to reach behind the end: looks for others inside of it. */
static int turn_back(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;

    if (walk->extent.has_top) {
        walk->stop = walk->top;
        walk->extent.end = walk->top + walk->top_bytes;
    }
    if (position->previous == 0 || position->previous >= walk->stop) {
        return -EAGAIN;
    }
    position->at = position->previous + GLIBC_CHUNK_ALIGN;
    return 0;
}

/* Where chunks fit again, from position.at on; 0 when nowhere. */
static int find_end(struct glibc_walk *walk, uint64_t *end)
{
    struct glibc_position *position = &walk->position;
    const struct heap_window *window = &walk->reader->window;

    *end = 0;
    while (*end == 0 && position->at < walk->stop && walk->places_left > 0) {
        if (position->at < window->start || position->at >= window->end) {
            int result = load_window(walk);
            if (result < 0) {
                return result;
            }
        }
        *end = glibc_gap_end(window, position->at, walk->stop, &walk->places_left);
        position->at = *end != 0 ? *end : window->end;
    }
    return *end != 0 ? 0 : -EAGAIN;
}

/* Leaves out what changed, up to the next place that fits. 0; -EAGAIN: there is none. */
static int skip_gap(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    const uint64_t start = position->previous != 0 ? position->previous : position->at;
    const bool is_behind = position->at >= walk->stop || walk->top < position->at;
    uint64_t end = 0;
    int result = is_behind ? turn_back(walk) : 0;

    if (result == 0) {
        result = find_end(walk, &end);
    }
    if (result < 0) {
        return result;
    }
    position->sums.gap_bytes += end - start;
    position->previous = 0;
    position->behind_gap = true;
    glibc_sampler_skip(
        &position->sampler, walk->samples, walk->extent.start, end + GLIBC_CHUNK_ALIGN);
    find_next_fast(walk);
    return 0;
}

/* The walk is at or behind stop: 1 when it ended well, 0 when top moved on. */
static int arrive(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    int result;

    if (position->at == walk->stop) {
        return 1;
    }
    if (!walk->extent.has_top) {
        return misfit(walk, walk->stop);
    }
    result = glibc_walk_read_top(walk->reader, walk->arena, &walk->top, &walk->top_bytes);
    if (result < 0) {
        return result == -EBADMSG ? -EAGAIN : result;
    }
    if (walk->top < position->at || walk->top < walk->extent.start ||
        walk->top - walk->extent.start > glibc_maximum_bytes) {
        return misfit(walk, walk->top);
    }
    walk->stop = walk->top;
    walk->extent.end = walk->top + walk->top_bytes;
    return 0;
}

/*
 * A misfit may only mean that the heap now ends below: at the chunk that is due, or at the one
 * before, which was given back to top after top was read and so seemed to reach to the end.
 */
static bool top_moved_here(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    uint64_t top, top_bytes;

    if (!walk->extent.has_top ||
        glibc_walk_read_top(walk->reader, walk->arena, &top, &top_bytes) < 0 ||
        (top != position->at && top != position->previous)) {
        return false;
    }
    if (top == position->previous) {
        position->at = top;
        position->sums.chunks--;
    }
    walk->top = top;
    walk->top_bytes = top_bytes;
    walk->stop = top;
    walk->extent.end = top + top_bytes;
    return true;
}

/* At the edge of a stretch. The header at position.at is in view. */
static int turn_sample(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    const struct heap_window *window = &walk->reader->window;
    const uint8_t *chunk = window->data + (position->at - window->start);
    const bool is_free = (glibc_word(chunk + SIZE_OFFSET) & GLIBC_PREV_IN_USE) == 0;
    const struct glibc_sample_place place = {.start = walk->extent.start,
        .at = position->at,
        .previous = position->previous,
        .below_bytes = is_free ? glibc_word(chunk) : 0,
        .free_bytes = position->sums.free_bytes};

    return glibc_sampler_turn(&position->sampler, walk->samples, &place);
}

static int finish(struct glibc_walk *walk)
{
    struct glibc_position *position = &walk->position;
    const uint64_t before = position->sums.run_resident_pages;
    const bool touches = position->run_start != 0 && position->run_end == walk->stop;
    const uint64_t start = position->run_start;
    int result = glibc_run_close(walk);

    if (result == 0) {
        result = end_sample(walk);
        walk->samples->count = position->sampler.count;
    }
    if (result == 0) {
        result = count_to(
            walk, glibc_align_up(walk->extent.end, walk->reader->memory->page_bytes));
    }
    if (walk->extent.has_top) {
        walk->top_run_start = touches ? start : walk->top;
        walk->top_run_pages = touches ? position->sums.run_resident_pages - before : 0;
    }
    return result;
}

/* One step: a window, a stretch of plain chunks and the chunk behind them. */
static int advance(struct glibc_walk *walk)
{
    const struct heap_window *window = &walk->reader->window;
    const uint64_t at = walk->position.at;
    const uint64_t edge = window->end < walk->extent.end ? EDGE_BYTES : 0;
    uint64_t limit;

    if (at >= walk->stop) {
        return arrive(walk);
    }
    if (at < window->start || at + edge >= window->end) {
        return load_window(walk);
    }
    if (at >= walk->position.sampler.edge) {
        int result = turn_sample(walk);
        if (result < 0) {
            return result;
        }
    }
    limit = window->end - edge < walk->stop ? window->end - edge : walk->stop;
    if (walk->position.sampler.edge < limit) {
        limit = walk->position.sampler.edge;
    }
    pass_plain_chunks(walk, limit);
    return walk->position.at < limit ? take_chunk(walk) : 0;
}

int glibc_walk_extent(struct glibc_walk *walk, const struct glibc_extent *extent)
{
    struct glibc_position *position = &walk->position;
    int result = 0;

    walk->extent = *extent;
    walk->stop = extent->has_top ? walk->top : extent->end;
    walk->checkpoint_count = 0;
    walk->misfit_at = 0;
    walk->misfit_repeats = 0;
    walk->reader->window.end = walk->reader->window.start;
    position->at = extent->start;
    position->previous = 0;
    position->run_start = 0;
    position->run_end = 0;
    position->behind_gap = false;
    position->sampler.is_open = false;
    position->sampler.edge = extent->start;
    position->counted_end =
        glibc_align_down(extent->base, walk->reader->memory->page_bytes);
    while (result == 0) {
        result = advance(walk);
        if (result == -ESTALE) {
            if (top_moved_here(walk)) {
                result = 0;
            } else {
                result = has_moved(walk) ? skip_gap(walk) : go_back(walk);
            }
        }
    }
    return result < 0 ? result : finish(walk);
}
