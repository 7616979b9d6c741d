/*
 * A lock of four bytes which needs no start-up, allocates nothing, and may be held across
 * fork: all zeroes is unlocked.
 */
#ifndef STRATA_LOCK_H
#define STRATA_LOCK_H

#include <stdint.h>

struct strata__lock {
    uint32_t state; /* 0 free, 1 held, 2 held and somebody may be waiting */
};

/* The slow halves: wait in the kernel, wake one that waits there. Change no errno. */
void strata__lock_wait(struct strata__lock *lock);
void strata__lock_wake(struct strata__lock *lock);

static inline int strata__lock_try(struct strata__lock *lock)
{
    uint32_t free = 0;
    return __atomic_compare_exchange_n(
        &lock->state, &free, 1, 0, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

static inline void strata__lock_take(struct strata__lock *lock)
{
    if (__builtin_expect(!strata__lock_try(lock), 0)) {
        strata__lock_wait(lock);
    }
}

static inline void strata__lock_drop(struct strata__lock *lock)
{
    if (__builtin_expect(
            __atomic_exchange_n(&lock->state, 0, __ATOMIC_RELEASE) == 2, 0)) {
        strata__lock_wake(lock);
    }
}

/* For the child of a fork, whose only thread holds the lock and has nobody to wake. */
static inline void strata__lock_reset(struct strata__lock *lock)
{
    __atomic_store_n(&lock->state, 0, __ATOMIC_RELEASE);
}

#endif
