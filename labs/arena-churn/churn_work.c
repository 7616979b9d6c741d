/*
 * churn_work.c - the same jobs on a pool of threads, or on a fresh thread for each job.
 *
 * A job builds a result of many small rows, waits a moment with it, and frees it. One row in
 * 64 moves into a cache that outlives the job, so that some blocks of every arena live on;
 * the cache has a fixed number of slots, and what the program needs is bounded. Sizes come
 * from the number of the job.
 *
 * Threads: jobs run on up to `threads` at once; the cache is under a lock.
 */
#include "churn_work.h"

#include <inttypes.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "random_number.h"
#include "settings.h"

enum {
    KIB = 1024,
    LARGEST_THREADS = 512,
    CACHE_SLOTS = 32768,
    ROWS_PER_CACHED_ROW = 64,
    SMALLEST_ROW_BYTES = 48,
    SMALL_JOB_KIB = 96,
    MEDIUM_JOB_KIB = 1024,
    KINDS = 1000, /* jobs of each kind, in a thousand: */
    SMALL_JOBS = 900,
    MEDIUM_JOBS = 90,
};

/* A row of a result; its content follows. */
struct row {
    struct row *next;
    size_t bytes;
};

struct work {
    int64_t jobs;
    int64_t threads;
    int64_t fresh;
    int64_t largest_kib;
    int64_t hold_ms;
    int64_t row_kib;
    _Atomic int64_t next;
    sem_t free_threads;
};

static struct work work = {.jobs = 1, .threads = 1, .largest_kib = KIB, .row_kib = 2};
static pthread_mutex_t cache_lock = PTHREAD_MUTEX_INITIALIZER;
static struct row *cache[CACHE_SLOTS];
static _Atomic uint64_t tracked_bytes;

static struct row *take(size_t bytes)
{
    struct row *row = malloc(bytes);

    if (row == NULL) {
        lab_die("no memory for a row");
    }
    memset(row, 'x', bytes);
    row->bytes = bytes;
    atomic_fetch_add_explicit(&tracked_bytes, bytes, memory_order_relaxed);
    return row;
}

static void give_back(struct row *row)
{
    if (row != NULL) {
        atomic_fetch_sub_explicit(&tracked_bytes, row->bytes, memory_order_relaxed);
        free(row);
    }
}

/* Puts row in a slot and returns what was there. */
static struct row *cache_replace(struct row *row, uint64_t *random)
{
    const size_t slot = (size_t)(random_number(random) % CACHE_SLOTS);

    (void)pthread_mutex_lock(&cache_lock);
    struct row *old = cache[slot];
    cache[slot] = row;
    (void)pthread_mutex_unlock(&cache_lock);
    return old;
}

static uint64_t job_bytes(uint64_t *random)
{
    const uint64_t kind = random_number(random) % KINDS;
    const uint64_t most = kind < SMALL_JOBS                 ? SMALL_JOB_KIB
                          : kind < SMALL_JOBS + MEDIUM_JOBS ? MEDIUM_JOB_KIB
                                                            : (uint64_t)work.largest_kib;

    return (most / 4 + random_number(random) % (most - most / 4)) * KIB;
}

static void run_job(uint64_t number)
{
    uint64_t random = random_seed(number);
    struct row *first = NULL;
    const uint64_t most = (uint64_t)work.row_kib * KIB;

    for (uint64_t left = job_bytes(&random); left > 0;) {
        const size_t bytes = SMALLEST_ROW_BYTES + (size_t)(random_number(&random) % most);
        struct row *row = take(bytes);
        row->next = first;
        first = row;
        left -= bytes < left ? bytes : left;
    }
    lab_sleep_ms(work.hold_ms);
    while (first != NULL) {
        struct row *next = first->next;
        give_back(random_number(&random) % ROWS_PER_CACHED_ROW == 0
                      ? cache_replace(first, &random)
                      : first);
        first = next;
    }
}

static void *run_pool_thread(void *unused)
{
    (void)unused;
    for (int64_t job; (job = atomic_fetch_add(&work.next, 1)) < work.jobs;) {
        run_job((uint64_t)job);
    }
    return NULL;
}

static void run_pool(void)
{
    pthread_t threads[LARGEST_THREADS];

    for (int64_t i = 0; i < work.threads; i++) {
        if (pthread_create(&threads[i], NULL, run_pool_thread, NULL) != 0) {
            lab_die("cannot start a thread");
        }
    }
    for (int64_t i = 0; i < work.threads; i++) {
        (void)pthread_join(threads[i], NULL);
    }
}

static void *run_fresh_thread(void *number)
{
    run_job((uint64_t)(uintptr_t)number);
    (void)sem_post(&work.free_threads);
    return NULL;
}

static void wait_for_thread(void)
{
    while (sem_wait(&work.free_threads) != 0) {
    }
}

static void run_fresh(void)
{
    pthread_attr_t attributes;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)sem_init(&work.free_threads, 0, (unsigned)work.threads);
    for (int64_t job = 0; job < work.jobs; job++) {
        pthread_t thread;
        wait_for_thread();
        if (pthread_create(
                &thread, &attributes, run_fresh_thread, (void *)(uintptr_t)job) != 0) {
            lab_die("cannot start a thread");
        }
    }
    for (int64_t i = 0; i < work.threads; i++) {
        wait_for_thread();
    }
}

int churn_work(int count, char **arguments)
{
    const struct setting settings[] = {
        {"jobs", &work.jobs, NULL, 1, 100000000, "in all"},
        {"threads", &work.threads, NULL, 1, LARGEST_THREADS, "at once"},
        {"fresh", &work.fresh, NULL, 0, 1, "a thread for each job"},
        {"largest", &work.largest_kib, NULL, 2 * (int64_t)KIB, 1 << 20, "job in KiB"},
        {"row", &work.row_kib, NULL, 1, 64 * KIB, "largest row in KiB"},
        {"hold", &work.hold_ms, NULL, 0, 1000, "ms with the result in memory"},
    };
    char byte;

    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), NULL);
    if (work.fresh != 0) {
        run_fresh();
    } else {
        run_pool();
    }
    printf("ready %" PRIu64 "\n", atomic_load(&tracked_bytes));
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
}
