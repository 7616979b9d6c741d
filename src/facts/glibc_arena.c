/*
 * glibc_arena.c - one arena: read until it is exact, or until it is known how unsure it is.
 *
 * When an arena moves while it is walked, parts of it are looked at again at once
 * (glibc_sample.c): the bytes by which they differ tell how much it changed meanwhile,
 * and twice that is the stated uncertainty. So an arena that never rests costs one walk and an
 * eighth, and not as many walks as there are attempts.
 */
#include "facts/glibc_arena.h"

#include <errno.h>

#include "facts/root.h"
#include "facts/span_list.h"

enum { ATTEMPTS = 4, UNCERTAINTY_FACTOR = 2 };

static const char why_moved[] = "blocks were taken and given back while it was read";

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* What the header says, whatever became of the walk. */
static void use_header(struct glibc_reader *reader, const struct glibc_attempt *attempt,
    struct glibc_arena *arena)
{
    const struct glibc_state_layout *layout = &reader->layout->state;

    arena->contiguous = arena->main && glibc_state_contiguous(attempt->state);
    arena->held_peak_bytes = glibc_word(attempt->state + layout->max_system_mem);
    arena->attached_threads = glibc_word(attempt->state + layout->attached_threads);
}

/* The figures of the attempt, if it has any, with the verdict that its outcome means. */
static int use_attempt(struct glibc_arena_reader *arenas,
    const struct glibc_attempt *attempt, struct glibc_arena *arena)
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
    const uint64_t held = glibc_state_held(reader, attempt->state);

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

/* The figures and what moved since they were read: how far off they can be. */
static void narrow(const struct glibc_arena_reader *arenas,
    const struct glibc_attempt *attempt, const struct glibc_movement *movement,
    struct glibc_arena *arena)
{
    arena->plus_minus_bytes = UNCERTAINTY_FACTOR * movement->bytes +
                              distance(glibc_state_held(arenas->reader, attempt->state),
                                  attempt->sums.held_bytes) +
                              attempt->hidden_bytes + attempt->gap_bytes;
    limit_uncertainty(arena);
}

/* Fast bins lead to other chunks than before: how much they hold now, against then. */
static int add_fast_movement(struct glibc_arena_reader *arenas, const uint8_t *state,
    uint64_t then_bytes, struct glibc_movement *movement)
{
    struct glibc_fast_sweep sweep;
    int result;

    glibc_fast_sweep_begin(&sweep, arenas->reader, state, &arenas->fast);
    result = glibc_fast_sweep_finish(&sweep);
    if (result < 0) {
        return result;
    }
    movement->seen = true;
    movement->bytes += sweep.torn || sweep.cut_bins != 0
                           ? then_bytes + arenas->fast.bytes
                           : distance(then_bytes, arenas->fast.bytes);
    return 0;
}

/* A second look at an arena that moved: by how much its figures have changed since. */
static int look_again(struct glibc_arena_reader *arenas, const struct glibc_mark *mark,
    const struct glibc_arena *then, struct glibc_movement *movement)
{
    struct glibc_reader *reader = arenas->reader;
    uint8_t now[GLIBC_STATE_MAXIMUM_BYTES];
    uint64_t top, top_bytes;
    int result =
        glibc_samples_compare(&mark->samples, reader, then->held_bytes, movement);

    if (result == 0 && movement->known) {
        result = glibc_state_read(reader, then->address, now);
        if (result == 0) {
            result = glibc_walk_read_top(reader, then->address, &top, &top_bytes);
        }
        if (result == 0) {
            movement->bytes += distance(top_bytes, then->top_bytes) +
                               distance(glibc_state_held(reader, now), then->held_bytes);
        }
        if (result == 0 &&
            glibc_state_fast_fingerprint(reader->layout, now) != mark->fast_fingerprint) {
            result = add_fast_movement(arenas, now, then->fast_bytes, movement);
        }
    }
    if (result < 0) {
        movement->known = false;
    }
    return glibc_is_about_content(result) ? 0 : result;
}

/* Where nothing could be sampled: how far apart two readings are. */
static void compare_sums(const struct glibc_arena *before, const struct glibc_arena *then,
    struct glibc_movement *movement)
{
    movement->known = true;
    movement->bytes = distance(before->in_use_bytes, then->in_use_bytes) +
                      distance(before->free_bytes, then->free_bytes) +
                      distance(before->fast_bytes, then->fast_bytes) +
                      distance(before->top_bytes, then->top_bytes);
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

static void set_mark(const struct glibc_arena_reader *arenas, const uint8_t *state,
    struct glibc_mark *mark)
{
    const struct glibc_layout *layout = arenas->reader->layout;

    mark->fingerprint = glibc_state_fingerprint(layout, state);
    mark->fast_fingerprint = glibc_state_fast_fingerprint(layout, state);
}

/*
 * Reads until a reading closes, or it is known how much the arena moves. One that was seen to
 * move is read only once when it is large, since the next reading would not close either.
 */
static int read_again(struct glibc_arena_reader *arenas, struct glibc_mark *mark,
    struct glibc_attempt *attempt, struct glibc_movement *movement)
{
    const uint64_t address = attempt->address;
    struct glibc_arena before = {0};
    bool has_before = false;

    for (int i = 0; i < ATTEMPTS; i++) {
        *attempt = (struct glibc_attempt){.address = address, .samples = &mark->samples};
        int result = glibc_attempt_read(arenas, attempt);
        set_mark(arenas, attempt->state, mark);
        if (result < 0 || attempt->outcome == OUTCOME_CLOSED ||
            attempt->outcome == OUTCOME_LISTS || attempt->outcome == OUTCOME_SPENT) {
            return result;
        }
        if (attempt->outcome == OUTCOME_MOVED) {
            result = look_again(arenas, mark, &attempt->sums, movement);
            if (result == 0 && !movement->known && has_before) {
                compare_sums(&before, &attempt->sums, movement);
            }
            if (result < 0 ||
                (movement->known &&
                    (has_before || (movement->seen && attempt->sums.held_bytes >
                                                          GLIBC_SAMPLE_WHOLE_BYTES)))) {
                return result;
            }
        }
        has_before = attempt->outcome == OUTCOME_MOVED;
        before = attempt->sums;
    }
    return 0;
}

int glibc_arena_read(struct glibc_arena_reader *arenas, uint64_t address, uint32_t index,
    struct glibc_arena *arena, struct glibc_mark *mark)
{
    struct glibc_attempt attempt = {.address = address};
    struct glibc_movement movement = {0};
    int result = read_again(arenas, mark, &attempt, &movement);

    if (result == 0) {
        result = use_attempt(arenas, &attempt, arena);
    }
    if (result < 0) {
        return result;
    }
    if (attempt.outcome == OUTCOME_MOVED && movement.known) {
        narrow(arenas, &attempt, &movement, arena);
    }
    if (arena->state != FACT_OK) {
        glibc_samples_release(&mark->samples); /* nobody will look again */
    }
    arenas->reader->tcache_count = arenas->walk.position.tcache_count;
    return add_spans(arenas, index, arena->main);
}

/* What changed since the arena was read, exactly then; unknown: all of it. */
static int measure_change(
    struct glibc_arena_reader *arenas, struct glibc_mark *mark, struct glibc_arena *arena)
{
    struct glibc_attempt attempt = {.address = arena->address, .samples = &mark->samples};
    struct glibc_movement movement = {0};
    int result;

    if (mark->samples.count > 0) {
        result = look_again(arenas, mark, arena, &movement);
    } else {
        result = glibc_attempt_read(arenas, &attempt);
        if (result == 0 &&
            (attempt.outcome == OUTCOME_CLOSED || attempt.outcome == OUTCOME_MOVED)) {
            compare_sums(&attempt.sums, arena, &movement);
        }
    }
    arena->plus_minus_bytes =
        movement.known ? UNCERTAINTY_FACTOR * movement.bytes : arena->held_bytes;
    limit_uncertainty(arena);
    return result;
}

int glibc_arena_check(
    struct glibc_arena_reader *arenas, struct glibc_mark *mark, struct glibc_arena *arena)
{
    uint8_t now[GLIBC_STATE_MAXIMUM_BYTES];
    struct glibc_reader *reader = arenas->reader;
    int result;

    if (arena->state != FACT_OK) {
        return 0;
    }
    result = glibc_state_read(reader, arena->address, now);
    if (result < 0) {
        return glibc_is_about_content(result) ? 0 : result;
    }
    if (glibc_state_fingerprint(reader->layout, now) == mark->fingerprint) {
        return 0;
    }
    result = measure_change(arenas, mark, arena);
    if (result < 0) {
        return result;
    }
    arena->state = FACT_STALE;
    arena->why = region_copy_text(reader->region, why_moved);
    return arena->why == NULL ? -ENOMEM : 0;
}
