/*
 * A thread inside of a slow path, and signal handlers: a handler that allocates there
 * must not wait for a lock which its own thread holds. Its malloc is refused (ENOMEM), and
 * what it frees waits until the slow path is left. Outside of slow paths, where a thread is
 * nearly always, handlers get what they ask for.
 */
#ifndef STRATA_BUSY_H
#define STRATA_BUSY_H

/* Of the thread. Four bytes of static TLS. */
extern __thread int strata__busy __attribute__((tls_model("initial-exec")));

/* False in a handler that has interrupted a slow path; else it is entered. */
static inline int strata__busy_enter(void)
{
    if (strata__busy) {
        return 0;
    }
    strata__busy = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    return 1;
}

/* Leaves it, with no lock held. */
static inline void strata__busy_leave(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    strata__busy = 0;
}

/* A handler that has interrupted a slow path forks there: its thread holds locks which
 * fork's handlers must not take, nor drop. Such handlers may be interrupted likewise. */
static inline void strata__busy_begin_fork(void)
{
    strata__busy += 2;
}

/* In the parent and in the child: was it so? Then it has ended. */
static inline int strata__busy_end_fork(void)
{
    int inside = strata__busy > 1;
    strata__busy -= inside ? 2 : 0;
    return inside;
}

/* Keeps a block for later, in its own first word. */
void strata__busy_defer(void *block);
/* A block that was kept, or NULL. */
void *strata__busy_deferred(void);

#endif
