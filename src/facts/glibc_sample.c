/*
 * glibc_sample.c - how much of an arena moved since it was walked, from a part of it.
 *
 * The parts of an arena are read one after the other while the program runs, so the sum of
 * them is of no one moment. It is wrong by no more than what became free or in use
 * between the reading of a part and the end of the walk. A second look at the end measures just
 * that; and since blocks are taken and given back all over an arena, an eighth of it tells of
 * the whole. Stretches lie close, so that what one thread does in one place is either
 * met by one of them or smaller than the stride, which is added once.
 *
 * What one block loses another gains, and neighbours even out: the error of the sum is that of
 * all changes with their signs. They are summed so within sixteen neighbours only, and
 * these sums without signs.
 *
 * A free chunk as large as a stride always ends just below a stretch, whose first header
 * tells its size: such chunks are all seen, and what changes in them is not scaled up.
 * Between two looks at the same header nothing else can be said of chunks that were cached
 * by a thread or put into a fast bin: for the arena these stay in use (malloc/malloc.c).
 */
#include "facts/glibc_sample.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/glibc_gap.h"

enum {
    SIZE_OFFSET = 8,
    FIRST_CAPACITY = 64,
    STRETCHES = 4096,
    /* Stretches whose changes are set against each other; but at least so many sets of them. */
    GROUP = 16,
    GROUPS = 8,
    PLACES = 1 << 12,     /* that are tried to find chunks again in a stretch */
    PAGE_BYTES = 4 << 10, /* of the smallest pages there are */
};

void glibc_samples_release(struct glibc_samples *samples)
{
    free(samples->items);
    *samples = (struct glibc_samples){0};
}

void glibc_samples_begin(struct glibc_samples *samples, uint64_t held)
{
    samples->count = 0;
    samples->stride_bytes =
        glibc_align_up(held / STRETCHES + 1, GLIBC_SAMPLE_STRIDE_BYTES);
    samples->length_bytes = held <= GLIBC_SAMPLE_WHOLE_BYTES
                                ? samples->stride_bytes
                                : samples->stride_bytes / GLIBC_SAMPLE_SHARE;
}

/* Puts sample at place count, which is no more than what is there already. */
static int put(
    struct glibc_samples *samples, size_t count, const struct glibc_sample *sample)
{
    if (count == samples->capacity) {
        const size_t capacity = count == 0 ? FIRST_CAPACITY : count * 2;
        struct glibc_sample *grown =
            realloc(samples->items, capacity * sizeof(*samples->items));
        if (grown == NULL) {
            return -ENOMEM;
        }
        samples->items = grown;
        samples->capacity = capacity;
    }
    samples->items[count] = *sample;
    return 0;
}

/* Where the next stretch may begin, in an extent that begins at start. */
static uint64_t next_edge(
    const struct glibc_samples *samples, uint64_t start, uint64_t address)
{
    return samples->length_bytes == samples->stride_bytes
               ? address
               : start + glibc_align_up(address - start, samples->stride_bytes);
}

/* A stretch begins at a chunk and ends with a page, so that none is read for a few bytes. */
static uint64_t whole_pages_end(const struct glibc_samples *samples, uint64_t at)
{
    return samples->length_bytes == samples->stride_bytes
               ? at + samples->length_bytes
               : glibc_align_down(at, PAGE_BYTES) + samples->length_bytes;
}

int glibc_sampler_end(struct glibc_sampler *sampler, struct glibc_samples *samples,
    uint64_t at, uint64_t free_bytes)
{
    struct glibc_sample *sample = &sampler->sample;

    if (!sampler->is_open || sample->at == at) {
        return 0;
    }
    sampler->is_open = false;
    sample->end = at;
    sample->free_bytes = free_bytes - sample->free_bytes - sample->below_bytes;
    return put(samples, sampler->count++, sample);
}

int glibc_sampler_turn(struct glibc_sampler *sampler, struct glibc_samples *samples,
    const struct glibc_sample_place *place)
{
    const uint64_t at = place->at;
    int result = 0;

    if (sampler->is_open) {
        const bool is_large =
            place->previous != 0 && at - place->previous >= samples->stride_bytes;
        result = glibc_sampler_end(sampler, samples, at, place->free_bytes);
        sampler->edge = is_large ? at : next_edge(samples, place->start, at);
    }
    if (sampler->count == GLIBC_SAMPLE_MAXIMUM) {
        sampler->edge = at + samples->stride_bytes;
    } else if (at >= sampler->edge) {
        sampler->is_open = true;
        sampler->edge = whole_pages_end(samples, at);
        sampler->sample = (struct glibc_sample){
            .at = at, .below_bytes = place->below_bytes, .free_bytes = place->free_bytes};
    }
    return result;
}

void glibc_sampler_skip(struct glibc_sampler *sampler,
    const struct glibc_samples *samples, uint64_t start, uint64_t address)
{
    sampler->is_open = false;
    sampler->edge = next_edge(samples, start, address);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Makes the window show the header at address. 0; -EBUSY; or -errno of the memory. */
static int show(struct glibc_reader *reader, const struct glibc_samples *samples,
    uint64_t address, uint64_t end)
{
    struct heap_window *window = &reader->window;
    const uint64_t after = address + GLIBC_CHUNK_HEADER_BYTES;

    if (address >= window->start && after <= window->end) {
        return 0;
    }
    if (reader->loads_left == 0) {
        return -EBUSY;
    }
    reader->loads_left--;
    if (end > whole_pages_end(samples, address)) {
        end = whole_pages_end(samples, address);
    }
    return heap_window_load(window, address, end > after ? end : after);
}

/*
 * Where chunks fit again behind at, or end; what lies between cannot be told. The old
 * places of chunks are none any more where the memory below them was merged.
 */
static uint64_t skip(const struct glibc_reader *reader, uint64_t at, uint64_t end)
{
    uint64_t places = PLACES;
    const uint64_t next =
        glibc_gap_end(&reader->window, at + GLIBC_CHUNK_ALIGN, end, &places);

    return next != 0 ? next : end;
}

/* What is free in the stretch now. lost_bytes is what cannot be told. */
static int look(struct glibc_reader *reader, const struct glibc_samples *samples,
    const struct glibc_sample *sample, struct glibc_sample *now, uint64_t *lost_bytes)
{
    const struct heap_window *window = &reader->window;
    uint64_t at = sample->at;
    uint64_t least = 0; /* where the chunk below may begin */

    *now = (struct glibc_sample){.at = sample->at, .end = sample->end};
    *lost_bytes = 0;
    while (at < sample->end) {
        uint64_t header, size, below;
        int result = show(reader, samples, at, sample->end);
        if (result < 0) {
            return result;
        }
        below = glibc_word(window->data + (at - window->start));
        header = glibc_word(window->data + (at - window->start) + SIZE_OFFSET);
        size = header & ~(uint64_t)GLIBC_SIZE_BITS;
        if (size < GLIBC_CHUNK_MINIMUM_BYTES || size > glibc_maximum_bytes ||
            ((header & GLIBC_PREV_IN_USE) == 0 &&
                (below > glibc_maximum_bytes || below > at - least))) {
            const uint64_t next = skip(reader, at, sample->end);
            *lost_bytes += next - at;
            least = at;
            at = next;
            continue;
        }
        if ((header & GLIBC_PREV_IN_USE) == 0) {
            *(at == sample->at ? &now->below_bytes : &now->free_bytes) += below;
        }
        least = at;
        at += size;
    }
    return 0;
}

/* Differences of the stretches so far. */
struct comparison {
    uint64_t covered_bytes;
    uint64_t sampled_bytes; /* that differ in stretches, and stand for more */
    uint64_t whole_bytes;   /* that differ in free chunks which are all seen */
    int64_t group_bytes;    /* of the stretches that are not in sampled_bytes yet */
    bool seen;
};

static int compare(const struct glibc_samples *samples, const struct glibc_sample *sample,
    struct glibc_reader *reader, struct comparison *sums)
{
    struct glibc_sample now;
    uint64_t lost;
    int result = look(reader, samples, sample, &now, &lost);

    if (result < 0) {
        return result;
    }
    sums->covered_bytes += sample->end - sample->at;
    sums->seen = sums->seen || lost != 0 || sample->free_bytes != now.free_bytes ||
                 sample->below_bytes != now.below_bytes;
    sums->sampled_bytes += lost;
    sums->group_bytes += (int64_t)(now.free_bytes - sample->free_bytes);
    if (sample->below_bytes >= samples->stride_bytes ||
        now.below_bytes >= samples->stride_bytes) {
        sums->whole_bytes += distance(sample->below_bytes, now.below_bytes);
    } else {
        sums->group_bytes += (int64_t)(now.below_bytes - sample->below_bytes);
    }
    return 0;
}

static size_t group_size(const struct glibc_samples *samples)
{
    const size_t size = samples->count / GROUPS;

    if (samples->length_bytes == samples->stride_bytes || size == 0) {
        return 1;
    }
    return size < GROUP ? size : GROUP;
}

static void end_group(struct comparison *sums)
{
    sums->sampled_bytes += sums->group_bytes < 0 ? -(uint64_t)sums->group_bytes
                                                 : (uint64_t)sums->group_bytes;
    sums->group_bytes = 0;
}

/* As much of held as the stretches are of it. */
static uint64_t scale_up(uint64_t bytes, uint64_t held, uint64_t covered)
{
    const long double share = (long double)held / (long double)covered;

    return covered >= held ? bytes : (uint64_t)((long double)bytes * share);
}

int glibc_samples_compare(const struct glibc_samples *samples,
    struct glibc_reader *reader, uint64_t held, struct glibc_movement *movement)
{
    const size_t group = group_size(samples);
    struct comparison sums = {0};
    int result = 0;

    *movement = (struct glibc_movement){0};
    reader->window.end = reader->window.start; /* what it shows is of the walk */
    for (size_t i = 0; i < samples->count && result == 0; i++) {
        result = compare(samples, &samples->items[i], reader, &sums);
        if ((i + 1) % group == 0) {
            end_group(&sums);
        }
    }
    end_group(&sums);
    if (result < 0 || sums.covered_bytes == 0) {
        return result == -EBUSY ? 0 : result;
    }
    movement->known = true;
    movement->seen = sums.seen;
    movement->bytes = scale_up(sums.sampled_bytes, held, sums.covered_bytes);
    if (samples->length_bytes < samples->stride_bytes) {
        movement->bytes += samples->stride_bytes; /* as much may hide between two */
    }
    movement->bytes += sums.whole_bytes;
    return 0;
}
