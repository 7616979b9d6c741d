/*
 * One counter and two figures to compare it with, shown in the statistics region. There
 * is no lock: each figure is written by itself.
 *
 * A limit that is set below what is held already refuses every purchase until enough has
 * been given back. The soft limit is only a reason to purge: where nothing can be purged a
 * program may stay above it, and is not purged again before it has grown by a share.
 */
#include "limit.h"

#include <errno.h>
#include <stdint.h>

#include "region.h"

#define SOFT_STEP_SHARE 16
#define SOFT_STEP_LEAST ((size_t)256 << 10)

static struct {
    size_t held;
    size_t hard; /* SIZE_MAX: none */
    size_t soft;
    size_t next_purge; /* purge when this much is held */
    size_t peak;       /* most held */
    uint64_t refused, purges, pressure_purges;
} limit = {.hard = SIZE_MAX, .soft = SIZE_MAX, .next_purge = SIZE_MAX};

void strata__limit_set(size_t hard_bytes, size_t soft_bytes)
{
    limit.hard = hard_bytes == 0 ? SIZE_MAX : hard_bytes;
    limit.soft = soft_bytes == 0 ? SIZE_MAX : soft_bytes;
    limit.next_purge = limit.soft;
}

/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void count(uint64_t *counter, uint64_t *place)
{
    uint64_t counted = __atomic_add_fetch(counter, 1, __ATOMIC_RELAXED);
    if (strata__region_is_open()) {
        strata__region_set(place, counted);
    }
}

size_t strata__limit_hard(void)
{
    return limit.hard;
}

/* The last who changed a figure finds it unchanged behind himself; so what is shown is
 * true whenever nobody is at it. NOLINTNEXTLINE(readability-non-const-parameter) */
static void show(uint64_t *place, const size_t *figure)
{
    size_t shown = 0;
    if (!strata__region_is_open()) {
        return;
    }
    do {
        shown = __atomic_load_n(figure, __ATOMIC_SEQ_CST);
        __atomic_store_n(place, shown, __ATOMIC_SEQ_CST);
    } while (__atomic_load_n(figure, __ATOMIC_SEQ_CST) != shown);
}

static void note_peak(size_t held)
{
    size_t peak = __atomic_load_n(&limit.peak, __ATOMIC_RELAXED);
    while (held > peak && !__atomic_compare_exchange_n(&limit.peak, &peak, held, 1,
                              __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
    }
    if (held > peak) {
        show(&strata__shared.region.limit.peak_charged_bytes, &limit.peak);
    }
}

int strata__limit_buy(size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    size_t held = __atomic_load_n(&limit.held, __ATOMIC_RELAXED);
    do {
        if (held > limit.hard || bytes > limit.hard - held) {
            return -ENOMEM;
        }
    } while (!__atomic_compare_exchange_n(
        &limit.held, &held, held + bytes, 1, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED));
    show(&strata__shared.region.limit.charged_bytes, &limit.held);
    note_peak(held + bytes);
    return 0;
}

void strata__limit_return(size_t bytes)
{
    if (bytes > 0) {
        __atomic_fetch_sub(&limit.held, bytes, __ATOMIC_SEQ_CST);
        show(&strata__shared.region.limit.charged_bytes, &limit.held);
    }
}

size_t strata__limit_held(void)
{
    return __atomic_load_n(&limit.held, __ATOMIC_RELAXED);
}

int strata__limit_wants_purge(void)
{
    return strata__limit_held() > __atomic_load_n(&limit.next_purge, __ATOMIC_RELAXED);
}

void strata__limit_purged(void)
{
    size_t held = strata__limit_held();
    size_t step = limit.soft / SOFT_STEP_SHARE;
    step = step < SOFT_STEP_LEAST ? SOFT_STEP_LEAST : step;
    size_t next = held <= limit.soft ? limit.soft : held + step;
    __atomic_store_n(&limit.next_purge, next, __ATOMIC_RELAXED);
    if (limit.hard != SIZE_MAX || limit.soft != SIZE_MAX) {
        count(&limit.purges, &strata__shared.region.limit.purges);
    }
}

void strata__limit_count_refusal(void)
{
    if (limit.hard == SIZE_MAX) {
        return;
    }
    count(&limit.refused, &strata__shared.region.limit.refused);
}

void strata__limit_count_pressure(void)
{
    count(&limit.pressure_purges, &strata__shared.region.limit.pressure_purges);
}

void strata__limit_reset_peak(void)
{
    __atomic_store_n(&limit.peak, strata__limit_held(), __ATOMIC_SEQ_CST);
    show(&strata__shared.region.limit.peak_charged_bytes, &limit.peak);
}

void strata__limit_publish(void)
{
    struct strata_layout_limit *shown = &strata__shared.region.limit;
    strata__region_set(&shown->hard_bytes, limit.hard == SIZE_MAX ? 0 : limit.hard);
    strata__region_set(&shown->soft_bytes, limit.soft == SIZE_MAX ? 0 : limit.soft);
    strata__region_set(&shown->refused, limit.refused);
    strata__region_set(&shown->purges, limit.purges);
    strata__region_set(&shown->pressure_purges, limit.pressure_purges);
    show(&shown->charged_bytes, &limit.held);
    show(&shown->peak_charged_bytes, &limit.peak);
}
