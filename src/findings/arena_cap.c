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
 * The law is exact for many small independent demands. Servers have few and large ones,
 * and shared arenas fragment more, so the kept share is taken from KEPT_LEAST to KEPT_MOST
 * times the law; both were set from measured pairs of runs, listed in
 * docs/decisions/004-what-an-arena-cap-saves.md.
 */
#include "findings/arena_cap.h"

#include <math.h>

#include "base/number.h"
#include "model/known.h"

static const double KEPT_LEAST = 0.70;
static const double KEPT_MOST = 1.35;

static uint64_t retained_of(const struct glibc_arena *arena)
{
    if (!state_is_known(arena->state) || !state_is_known(arena->resident_state)) {
        return 0;
    }
    return number_add(arena->free_resident_bytes, arena->top_resident_bytes);
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

struct arena_cap_estimate arena_cap_estimate_of(
    const struct glibc_facts *glibc, size_t cap)
{
    struct arena_cap_estimate estimate = {.arenas = 0};
    double sum = 0.0;
    double squares = 0.0;
    uint64_t largest = 0;
    double kept;

    for (size_t i = 0; i < glibc->arena_count; i++) {
        const uint64_t retained = retained_of(&glibc->arenas[i]);

        estimate.arenas += retained > 0 ? 1 : 0;
        estimate.retained_bytes = number_add(estimate.retained_bytes, retained);
        largest = retained > largest ? retained : largest;
        sum += (double)retained;
        squares += (double)retained * (double)retained;
    }
    if (estimate.arenas <= cap) {
        return (struct arena_cap_estimate){.arenas = estimate.arenas};
    }
    estimate.even_arenas = sum * sum / squares;
    kept = arena_cap_kept_share(cap, estimate.even_arenas);
    estimate.low_bytes = share_of(estimate.retained_bytes, 1.0 - kept * KEPT_MOST);
    estimate.high_bytes =
        number_smaller(share_of(estimate.retained_bytes, 1.0 - kept * KEPT_LEAST),
            number_subtract(estimate.retained_bytes, largest));
    estimate.low_bytes = number_smaller(estimate.low_bytes, estimate.high_bytes);
    return estimate;
}
