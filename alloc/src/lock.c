/*
 * The waiting half of a lock, on futex(2): state 2 means that the holder has to wake
 * somebody. A thread that has waited takes the lock as 2, since it cannot know whether
 * others still wait. Spins first, because the locks are held for less than a microsecond
 * unless the kernel is asked for memory.
 */
#include "lock.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#define SPINS 64

static void futex(struct strata__lock *lock, int operation, uint32_t value)
{
    int saved = errno;
    (void)syscall(SYS_futex, &lock->state, operation, value, NULL, NULL, 0);
    errno = saved;
}

void strata__lock_wait(struct strata__lock *lock)
{
    for (int i = 0; i < SPINS; i++) {
        if (__atomic_load_n(&lock->state, __ATOMIC_RELAXED) == 0 &&
            strata__lock_try(lock)) {
            return;
        }
#if defined(__x86_64__)
        __builtin_ia32_pause();
#endif
    }
    while (__atomic_exchange_n(&lock->state, 2, __ATOMIC_ACQUIRE) != 0) {
        futex(lock, FUTEX_WAIT_PRIVATE, 2);
    }
}

void strata__lock_wake(struct strata__lock *lock)
{
    futex(lock, FUTEX_WAKE_PRIVATE, 1);
}
