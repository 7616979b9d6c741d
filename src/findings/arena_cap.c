/*
 * arena_cap.c - the square-root law of reserves, applied to arenas.
 *
 * An arena that no one else shares keeps what its busiest moment needed: its free memory is
 * a reserve for the next such moment. The moments of different connections do not fall
 * together. When n reserves against independent peaks are pooled into k, what must be
 * kept shrinks from the sum to its sqrt(k / n) share (risk pooling; the same law that
 * sizes safety stocks and trunk lines). Blocks in use are needed under any number of
 * arenas and do not enter.
 *
 * n counts arenas by what they retain: one that retains nothing (often the main arena)
 * is no reserve. (sum r)^2 / sum r^2 is n for equal arenas and less for uneven ones.
 *
 * Whatever the number of arenas, the largest demand seen must fit into one: what the arena
 * that retains most keeps is not saved.
 *
 * Free memory here is all that is resident beyond the blocks in use: not only whole pages,
 * but also the rests of pages that blocks share. Packing into fewer arenas saves both.
 *
 * The tops are a special case once mmap_threshold has grown: malloc gives the end of a
 * heap back only above trim_threshold, so each of the remaining arenas may keep that much
 * at its end, whatever the law says. Then the range is wider.
 *
 * The law is exact for many small independent demands. Servers have few and large ones,
 * and shared arenas fragment more, so the kept share is taken from KEPT_LEAST to KEPT_MOST
 * times the law; both were set from measured pairs of runs, listed in
 * docs/decisions/004-what-an-arena-cap-saves.md.
 */
#include "findings/arena_cap.h"

#include <math.h>
#include <stdbool.h>

#include "base/bug.h"
#include "base/number.h"
#include "model/known.h"

static const double KEPT_LEAST = 0.70;
static const double KEPT_MOST = 1.35;

/* Twice the largest dynamic mmap_threshold (malloc/malloc.c): for an unknown one. */
static const uint64_t largest_trim_threshold_bytes = UINT64_C(64) << 20;

static bool is_counted(const struct glibc_arena *arena)
{
    return state_is_known(arena->state) && state_is_known(arena->resident_state);
}

static uint64_t retained_of(const struct glibc_arena *arena)
{
    const uint64_t beyond_use =
        number_subtract(arena->resident_bytes, arena->in_use_bytes);
    const uint64_t whole_pages =
        number_add(arena->free_resident_bytes, arena->top_resident_bytes);

    return beyond_use > whole_pages ? beyond_use : whole_pages;
}

/* share of bytes, within [0, bytes]. */
static uint64_t share_of(uint64_t bytes, double share)
{
    if (share <= 0.0) {
        return 0;
    }
    return share >= 1.0 ? bytes : (uint64_t)((double)bytes * share);
}

double arena_cap_kept_share(size_t cap, double even_arenas)
{
    const double share = even_arenas > 0.0 ? sqrt((double)cap / even_arenas) : 1.0;

    return share < 1.0 ? share : 1.0;
}

/* What the arenas retain, by size and by place. */
struct reserve {
    uint64_t total_bytes;
    uint64_t tops_bytes; /* a part of it */
    uint64_t largest_bytes;
    double sum;
    double squares;
    size_t arenas;
};

static struct reserve reserve_of(const struct glibc_facts *glibc)
{
    struct reserve reserve = {.arenas = 0};

    for (size_t i = 0; i < glibc->arena_count; i++) {
        const struct glibc_arena *arena = &glibc->arenas[i];
        const uint64_t retained = is_counted(arena) ? retained_of(arena) : 0;

        if (retained == 0) {
            continue;
        }
        reserve.arenas++;
        reserve.total_bytes = number_add(reserve.total_bytes, retained);
        reserve.tops_bytes = number_add(reserve.tops_bytes, arena->top_resident_bytes);
        reserve.largest_bytes =
            retained > reserve.largest_bytes ? retained : reserve.largest_bytes;
        reserve.sum += (double)retained;
        reserve.squares += (double)retained * (double)retained;
    }
    return reserve;
}

/* The most that cap arenas keep of it. */
static uint64_t most_kept(const struct reserve *reserve, const struct glibc_facts *glibc,
    size_t cap, double law)
{
    const uint64_t threshold = state_is_known(glibc->parameters.state)
                                   ? glibc->parameters.trim_threshold_bytes
                                   : largest_trim_threshold_bytes;
    const uint64_t others = number_subtract(reserve->total_bytes, reserve->tops_bytes);
    const uint64_t tops_by_law = share_of(reserve->tops_bytes, law * KEPT_MOST);
    const uint64_t tops_by_threshold =
        threshold > reserve->tops_bytes / cap ? reserve->tops_bytes : threshold * cap;
    const uint64_t tops =
        tops_by_law > tops_by_threshold ? tops_by_law : tops_by_threshold;

    return number_add(share_of(others, law * KEPT_MOST), tops);
}

struct arena_cap_estimate arena_cap_estimate_of(
    const struct glibc_facts *glibc, size_t cap)
{
    const struct reserve reserve = reserve_of(glibc);
    struct arena_cap_estimate estimate = {.arenas = reserve.arenas};
    double law;

    BUG_IF(cap == 0);
    if (reserve.arenas <= cap) {
        return estimate;
    }
    estimate.retained_bytes = reserve.total_bytes;
    estimate.even_arenas = reserve.sum * reserve.sum / reserve.squares;
    law = arena_cap_kept_share(cap, estimate.even_arenas);
    estimate.high_bytes =
        number_smaller(share_of(reserve.total_bytes, 1.0 - law * KEPT_LEAST),
            number_subtract(reserve.total_bytes, reserve.largest_bytes));
    estimate.low_bytes = number_smaller(estimate.high_bytes,
        number_subtract(reserve.total_bytes, most_kept(&reserve, glibc, cap, law)));
    return estimate;
}
