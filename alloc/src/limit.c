/*
 * One counter and two figures to compare it with.
 *
 * A limit that is set below what is held already refuses every purchase until enough has
 * been given back. The soft limit is only a reason to purge: where nothing can be purged a
 * program may stay above it, and is not purged again before it has grown by a share.
 */
#include "limit.h"

#include <errno.h>
#include <stdint.h>

#define SOFT_STEP_SHARE 16
#define SOFT_STEP_LEAST ((size_t)256 << 10)

static struct {
    size_t held;
    size_t hard; /* SIZE_MAX: none */
    size_t soft;
    size_t next_purge; /* purge when this much is held */
} limit = {.hard = SIZE_MAX, .soft = SIZE_MAX, .next_purge = SIZE_MAX};

void strata__limit_set(size_t hard_bytes, size_t soft_bytes)
{
    limit.hard = hard_bytes == 0 ? SIZE_MAX : hard_bytes;
    limit.soft = soft_bytes == 0 ? SIZE_MAX : soft_bytes;
    limit.next_purge = limit.soft;
}

size_t strata__limit_hard(void)
{
    return limit.hard;
}

int strata__limit_buy(size_t bytes)
{
    size_t held = __atomic_load_n(&limit.held, __ATOMIC_RELAXED);
    do {
        if (bytes > 0 && (held > limit.hard || bytes > limit.hard - held)) {
            return -ENOMEM;
        }
    } while (!__atomic_compare_exchange_n(
        &limit.held, &held, held + bytes, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return 0;
}

void strata__limit_return(size_t bytes)
{
    __atomic_fetch_sub(&limit.held, bytes, __ATOMIC_RELAXED);
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
}
