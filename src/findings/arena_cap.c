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
 * Free memory here is all that is resident beyond the blocks in use: not only whole pages,
 * but also the rests of pages that blocks share. Packing into fewer arenas saves both. It
 * is divided by place, since malloc treats the end of a heap in another way:
 *
 * - Holes between blocks in use stay. The law holds from HOLES_LEAST to HOLES_MOST.
 * - An end (top) is given back once it reaches trim_threshold, and grows anew. Pooled into few
 *   arenas it does so often, while one of many may never get there. So an end keeps its
 *   law, and not more than the threshold: TOPS_LEAST to TOPS_MOST, and TRIMMED_LEAST to
 *   TRIMMED_MOST of the threshold, whichever is less.
 * - Where more is in use than is retained, holes lie between blocks that are there anyway, and
 *   few arenas have as many of them: up to CROWDED_MOST of the excess may stay.
 *
 * Where malloc has raised its thresholds, large blocks come from the heaps, and the law does not
 * hold: threads that are all busy with equal work need as much in few arenas as in many, while
 * rare large demands pool as the law says; one look does not tell which it is. Holes then stay
 * (GROWN_HOLES_LEAST to GROWN_HOLES_MOST), and of the ends GROWN_ENDS_LEAST to GROWN_ENDS_MOST. The
 * range is wide, and a fixed threshold is the better change (thresholds.c).
 *
 * Whatever the number of arenas, the largest demand seen must fit into one: what the arena
 * that retains most keeps is not saved.
 *
 * The law is exact for many small independent demands. Servers have few and large ones,
 * and shared arenas fragment more; hence the factors. They were set from measured pairs of
 * runs of three programs, listed in docs/decisions/004-what-an-arena-cap-saves.md. They speak of
 * the mean over idle moments: a single one may come just after a trim, or just before.
 */
#include "findings/arena_cap.h"

#include <math.h>
#include <stdbool.h>

#include "base/bug.h"
#include "base/number.h"
#include "findings/arena_reserve.h"
#include "model/known.h"

static const double HOLES_LEAST = 0.50;
static const double HOLES_MOST = 1.16;
static const double TOPS_LEAST = 0.85;
static const double TOPS_MOST = 1.25;
static const double TRIMMED_LEAST = 0.50;
static const double TRIMMED_MOST = 1.05;
static const double CROWDED_MOST = 0.60;
static const double GROWN_HOLES_LEAST = 0.30;
static const double GROWN_HOLES_MOST = 1.60;
static const double GROWN_ENDS_LEAST = 0.15;
static const double GROWN_ENDS_MOST = 0.75;

/* Twice the largest dynamic mmap_threshold (malloc/malloc.c): for an unknown one. */
static const uint64_t largest_trim_threshold_bytes = UINT64_C(64) << 20;

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* share of bytes, within [0, bytes]. */
static uint64_t share_of(uint64_t bytes, double share)
{
    return number_smaller(bytes, number_scale(bytes, share));
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
    uint64_t largest_top_bytes;
    uint64_t largest_bytes;
    uint64_t in_use_bytes;
    double sum;
    double squares;
    size_t arenas;
};

static struct reserve reserve_of(const struct glibc_facts *glibc)
{
    struct reserve reserve = {.arenas = 0};

    for (size_t i = 0; i < glibc->arena_count; i++) {
        const struct glibc_arena *arena = &glibc->arenas[i];
        const uint64_t retained = arena_retained_bytes(arena);

        if (retained == 0) {
            continue;
        }
        reserve.arenas++;
        reserve.in_use_bytes = number_add(reserve.in_use_bytes, arena->in_use_bytes);
        reserve.total_bytes = number_add(reserve.total_bytes, retained);
        reserve.tops_bytes = number_add(reserve.tops_bytes, arena->top_resident_bytes);
        reserve.largest_top_bytes =
            larger(reserve.largest_top_bytes, arena->top_resident_bytes);
        reserve.largest_bytes = larger(reserve.largest_bytes, retained);
        reserve.sum += (double)retained;
        reserve.squares += (double)retained * (double)retained;
    }
    return reserve;
}

/* What cap arenas keep, at least and at most. */
struct kept {
    uint64_t least_bytes;
    uint64_t most_bytes;
};

/* share of bytes, and not more than limit. */
static uint64_t limited_share(uint64_t bytes, double share, double limit)
{
    const uint64_t unlimited = share_of(bytes, share);

    return limit < (double)unlimited ? (uint64_t)limit : unlimited;
}

/* What two places keep of their bytes, at least and at most. */
struct shares {
    double holes_least;
    double holes_most;
    double ends_least;
    double ends_most;
};

static struct shares shares_of(const struct glibc_facts *glibc, double law)
{
    return thresholds_are_grown(glibc)
               ? (struct shares){GROWN_HOLES_LEAST, GROWN_HOLES_MOST, GROWN_ENDS_LEAST,
                     GROWN_ENDS_MOST}
               : (struct shares){law * HOLES_LEAST, law * HOLES_MOST, law * TOPS_LEAST,
                     law * TOPS_MOST};
}

static struct kept kept_of(const struct reserve *reserve, const struct glibc_facts *glibc,
    size_t cap, double law)
{
    const uint64_t threshold = state_is_known(glibc->parameters.state)
                                   ? glibc->parameters.trim_threshold_bytes
                                   : largest_trim_threshold_bytes;
    const double ends = reserve->largest_top_bytes > threshold
                            ? HUGE_VAL
                            : (double)threshold * (double)cap;
    const struct shares shares = shares_of(glibc, law);
    const uint64_t tops = number_smaller(reserve->tops_bytes, reserve->total_bytes);
    const uint64_t holes = number_subtract(reserve->total_bytes, tops);
    const uint64_t excess = number_subtract(reserve->in_use_bytes, reserve->total_bytes);
    const uint64_t most = number_add(number_scale(holes, shares.holes_most),
        limited_share(tops, shares.ends_most, ends * TRIMMED_MOST));

    return (struct kept){
        .least_bytes = number_add(share_of(holes, shares.holes_least),
            limited_share(tops, shares.ends_least, ends * TRIMMED_LEAST)),
        .most_bytes = number_add(most, share_of(excess, CROWDED_MOST)),
    };
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
    const struct kept kept = kept_of(&reserve, glibc, cap, law);
    estimate.high_bytes = number_subtract(
        reserve.total_bytes, larger(kept.least_bytes, reserve.largest_bytes));
    estimate.low_bytes = number_smaller(
        estimate.high_bytes, number_subtract(reserve.total_bytes, kept.most_bytes));
    return estimate;
}
