/*
 * The looks: idle CPU tables are drained, pages in partly used slabs and free spans are
 * given back if they were free at the last look too. So what is in use again and again is
 * never given back, and what is not is gone after half a second.
 *
 * The thread is started from a slow path of allocation, never of free: glibc frees under
 * the lock of its stack cache (nptl/nptl-stack.c, __nptl_free_stacks), which
 * pthread_create takes. It starts when the program uses more than THREAD_BYTES, so a small
 * program stays single-threaded; it blocks all signals, and sleeps without a timer when
 * nothing was freed and nothing given back for some looks.
 *
 * pthread_create calls calloc, and so comes back here: the state is changed before.
 */
#include "decay.h"

#include <errno.h>
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "central_sweep.h"
#include "large_books.h"
#include "metadata.h"
#include "percpu.h"
#include "pressure.h"
#include "units.h"

#define PERIOD_NS ((uint64_t)250000000)
#define PERIOD_MS 250
#define REST_MS 1000
#define SECOND_NS ((uint64_t)1000000000)
#define THREAD_BYTES ((size_t)16 << 20)
#define STACK_BYTES ((size_t)64 << 10)
#define QUIET_LOOKS 6
#define TASK_LINKS 2 /* of a directory, besides one for each of its folders */

enum thread_state { THREAD_FORBIDDEN, THREAD_ALLOWED, THREAD_RUNNING };

static struct {
    uint32_t thread;   /* enum thread_state */
    uint32_t sleeping; /* futex: 1 while the thread waits for a free */
    uint32_t frees;    /* slow ones; wraps around */
    uint32_t epoch;
    uint64_t last_look_ns; /* of those without the thread */
    int had_other_threads; /* when fork was called */
    void (*relieve)(void); /* NULL: pressure is not watched */
} decay;

size_t strata__decay_step(void)
{
    uint32_t epoch = __atomic_add_fetch(&decay.epoch, 1, __ATOMIC_RELAXED);
    strata__percpu_drain(0);
    size_t purged = strata__central_sweep(0);
    purged += strata__large_sweep(0);
    strata__units_set_epoch(epoch);
    /* Spans freed since the look before the last one stay. */
    purged += epoch >= 2 ? strata__units_purge(epoch - 2, 0) : 0;
    return purged + strata__metadata_sweep(0);
}

static void futex(int operation, uint32_t value)
{
    (void)syscall(SYS_futex, &decay.sleeping, operation, value, NULL, NULL, 0);
}

/* Until there were more frees than those seen: a free that came before `sleeping` was set
 * wakes nobody, but has been counted. */
static void sleep_until_free(uint32_t seen)
{
    __atomic_store_n(&decay.sleeping, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&decay.frees, __ATOMIC_SEQ_CST) != seen) {
        __atomic_store_n(&decay.sleeping, 0, __ATOMIC_SEQ_CST);
    }
    while (__atomic_load_n(&decay.sleeping, __ATOMIC_SEQ_CST) != 0) {
        futex(FUTEX_WAIT_PRIVATE, 1);
    }
}

/* A period, or a longer rest when nothing happens; cut short by pressure. With pressure
 * watched nobody has to wake the thread: it looks now and then. */
static void rest(int watcher, int is_quiet)
{
    const struct timespec period = {.tv_nsec = (long)PERIOD_NS};
    if (watcher < 0) {
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL);
    } else if (strata__pressure_wait(watcher, is_quiet ? REST_MS : PERIOD_MS)) {
        decay.relieve();
        (void)clock_nanosleep(CLOCK_MONOTONIC, 0, &period, NULL); /* not more often */
    }
}

static void *run(void *nothing)
{
    (void)nothing;
    int watcher = decay.relieve != NULL ? strata__pressure_open("") : -1;
    unsigned quiet_looks = 0;
    uint32_t seen = 0;
    (void)prctl(PR_SET_NAME, "strata-decay");
    for (;;) {
        rest(watcher, quiet_looks >= QUIET_LOOKS);
        uint32_t frees = __atomic_load_n(&decay.frees, __ATOMIC_RELAXED);
        size_t purged = strata__decay_step();
        quiet_looks = purged == 0 && frees == seen ? quiet_looks + 1 : 0;
        seen = frees;
        if (quiet_looks >= QUIET_LOOKS && watcher < 0) {
            sleep_until_free(seen);
            quiet_looks = 0;
        }
    }
    return NULL;
}

static void start_thread(void)
{
    sigset_t all;
    sigset_t before;
    pthread_attr_t attributes;
    pthread_t thread;
    int failed = pthread_attr_init(&attributes);
    if (failed == 0) {
        (void)pthread_attr_setstacksize(&attributes, STACK_BYTES);
        (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
        sigfillset(&all);
        pthread_sigmask(SIG_SETMASK, &all, &before);
        failed = pthread_create(&thread, &attributes, run, NULL);
        pthread_sigmask(SIG_SETMASK, &before, NULL);
        pthread_attr_destroy(&attributes);
    }
    if (failed != 0) {
        /* A limit on processes or a filter: the slow paths go on looking. */
        __atomic_store_n(&decay.thread, THREAD_FORBIDDEN, __ATOMIC_RELAXED);
    }
}

void strata__decay_note_alloc(void)
{
    uint32_t allowed = THREAD_ALLOWED;
    if (__atomic_load_n(&decay.thread, __ATOMIC_RELAXED) != THREAD_ALLOWED ||
        strata__units_used_bytes() < THREAD_BYTES ||
        !__atomic_compare_exchange_n(&decay.thread, &allowed, THREAD_RUNNING, 0,
            __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
        return;
    }
    int saved = errno;
    start_thread();
    errno = saved;
}

/* True for one caller when a period has passed since the last look. */
static int is_due(void)
{
    struct timespec now = {0};
    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    uint64_t now_ns = (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
    uint64_t last_ns = __atomic_load_n(&decay.last_look_ns, __ATOMIC_RELAXED);
    return now_ns - last_ns >= PERIOD_NS &&
           __atomic_compare_exchange_n(&decay.last_look_ns, &last_ns, now_ns, 0,
               __ATOMIC_RELAXED, __ATOMIC_RELAXED);
}

void strata__decay_note_free(void)
{
    __atomic_fetch_add(&decay.frees, 1, __ATOMIC_SEQ_CST);
    if (__atomic_load_n(&decay.thread, __ATOMIC_RELAXED) != THREAD_RUNNING) {
        if (is_due()) {
            strata__decay_step();
        }
    } else if (__atomic_load_n(&decay.sleeping, __ATOMIC_SEQ_CST) != 0 &&
               __atomic_exchange_n(&decay.sleeping, 0, __ATOMIC_SEQ_CST) != 0) {
        futex(FUTEX_WAKE_PRIVATE, 1);
    }
}

void strata__decay_watch_pressure(void (*relieve)(void))
{
    decay.relieve = relieve;
}

void strata__decay_allow_thread(void)
{
    __atomic_store_n(&decay.thread, THREAD_ALLOWED, __ATOMIC_RELAXED);
}

/* Each thread is a folder. Where /proc is not mounted, better no thread. */
int strata__decay_fork_prepare(void)
{
    struct stat tasks;
    nlink_t ours = __atomic_load_n(&decay.thread, __ATOMIC_RELAXED) == THREAD_RUNNING;
    decay.had_other_threads =
        stat("/proc/self/task", &tasks) != 0 || tasks.st_nlink > TASK_LINKS + 1 + ours;
    return !decay.had_other_threads;
}

void strata__decay_fork_child(void)
{
    if (decay.thread == THREAD_RUNNING) {
        decay.thread = decay.had_other_threads ? THREAD_FORBIDDEN : THREAD_ALLOWED;
    }
    decay.sleeping = 0;
}
