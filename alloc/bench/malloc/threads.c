/*
 * Threads that come and go, against whatever malloc the program was started with.
 *
 * usage: malloc-threads churn SECONDS | serial THREADS
 *
 * churn: 200 threads a second, at most 32 alive, each working for 150 ms on blocks of 16 B
 * to 64 KiB; one block in 64 is handed to a pool that outlives its thread, where another
 * thread frees it later. Prints million operations a processor second, and in KiB: peak,
 * mean RSS, mean live, RSS 2 s after all threads have ended, and what then lives.
 * serial: threads one after another, each allocating and freeing 200 blocks. Prints seconds, and RSS in KiB after
 * a tenth of the threads and after all.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "bench_common.h"
#include "random.h"

enum { ALIVE_MAX = 32, A_SECOND = 200, LIFE_MS = 150, SLOTS = 400, POOL = 4096 };

struct block {
    char *start;
    size_t bytes;
};

static struct {
    struct block pool[POOL];
    pthread_mutex_t locks[POOL];
    size_t live_bytes, operations;
    int alive;
} shared;

static void *(*volatile call_malloc)(size_t) = malloc;

static struct block block_new(uint64_t *random)
{
    size_t base = (size_t)16 << random_below(random, 12);
    struct block block = {.bytes = base + random_below(random, (uint32_t)base)};
    block.start = call_malloc(block.bytes);
    if (block.start == NULL) {
        bench_stop("no memory");
    }
    bench_touch(block.start, 0, block.bytes);
    return block;
}

/* Puts a block into the pool and frees the one that was there, most likely another
 * thread's, and perhaps of a thread that is gone. */
static size_t pool_exchange(struct block block, uint64_t *random)
{
    size_t at = random_below(random, POOL);
    pthread_mutex_lock(&shared.locks[at]);
    struct block old = shared.pool[at];
    shared.pool[at] = block;
    pthread_mutex_unlock(&shared.locks[at]);
    free(old.start);
    return old.bytes;
}

static void *churn_thread(void *argument)
{
    struct block blocks[SLOTS] = {{0}};
    uint64_t random = (uint64_t)(uintptr_t)argument;
    struct timespec pause = {.tv_nsec = 1000000};
    size_t operations = 0;
    for (int ms = 0; ms < LIFE_MS; ms++) {
        size_t gained = 0;
        for (int i = 0; i < 100; i++) {
            struct block *block = &blocks[random_below(&random, SLOTS)];
            if (operations % 64 == 0 && block->start != NULL) {
                gained -= pool_exchange(*block, &random);
            } else {
                free(block->start);
                gained -= block->bytes;
            }
            *block = block_new(&random);
            gained += block->bytes;
            operations++;
        }
        __atomic_fetch_add(&shared.live_bytes, gained, __ATOMIC_RELAXED);
        nanosleep(&pause, NULL);
    }
    size_t freed = 0;
    for (int i = 0; i < SLOTS; i++) {
        free(blocks[i].start);
        freed += blocks[i].bytes;
    }
    __atomic_fetch_sub(&shared.live_bytes, freed, __ATOMIC_RELAXED);
    __atomic_fetch_add(&shared.operations, operations, __ATOMIC_RELAXED);
    __atomic_fetch_sub(&shared.alive, 1, __ATOMIC_RELEASE);
    return NULL;
}

static void start_thread(void *(*run)(void *), uintptr_t argument, pthread_t *joined)
{
    pthread_t thread;
    if (pthread_create(&thread, NULL, run, (void *)argument) != 0) {
        bench_stop("no thread");
    }
    if (joined == NULL) {
        pthread_detach(thread);
    } else {
        *joined = thread;
    }
}

static void churn(unsigned seconds)
{
    struct bench_result result;
    struct timespec pause = {.tv_nsec = 1000000000 / A_SECOND};
    unsigned long rss_sum = 0;
    size_t live_sum = 0;
    size_t samples = 0;
    for (size_t i = 0; i < POOL; i++) {
        pthread_mutex_init(&shared.locks[i], NULL);
    }
    bench_start(&result);
    for (unsigned i = 1; i <= seconds * A_SECOND; i++) {
        if (__atomic_load_n(&shared.alive, __ATOMIC_ACQUIRE) < ALIVE_MAX) {
            __atomic_fetch_add(&shared.alive, 1, __ATOMIC_RELAXED);
            start_thread(churn_thread, i, NULL);
        }
        if (i % 10 == 0) {
            rss_sum += bench_status_kib("RssAnon:");
            live_sum += __atomic_load_n(&shared.live_bytes, __ATOMIC_RELAXED);
            samples++;
        }
        nanosleep(&pause, NULL);
    }
    while (__atomic_load_n(&shared.alive, __ATOMIC_ACQUIRE) > 0) {
        nanosleep(&pause, NULL);
    }
    bench_end(&result);
    sleep(2);
    printf("%.3f %lu %lu %zu %lu %zu\n",
        (double)shared.operations / result.cpu_seconds * 1e-6, bench_status_kib("VmHWM:"),
        rss_sum / samples, live_sum / samples / 1024, bench_status_kib("RssAnon:"),
        shared.live_bytes / 1024);
}

static void *serial_thread(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument;
    struct block blocks[200];
    for (size_t i = 0; i < 200; i++) {
        blocks[i] = block_new(&random);
    }
    for (size_t i = 0; i < 200; i++) {
        free(blocks[i].start);
    }
    return NULL;
}

static void serial(unsigned threads)
{
    struct bench_result result;
    unsigned long early_kib = 0;
    bench_start(&result);
    for (unsigned i = 1; i <= threads; i++) {
        pthread_t thread;
        start_thread(serial_thread, i, &thread);
        pthread_join(thread, NULL);
        if (i == threads / 10) {
            early_kib = bench_status_kib("RssAnon:");
        }
    }
    bench_end(&result);
    printf("%.3f %lu %lu\n", result.cpu_seconds, early_kib, bench_status_kib("RssAnon:"));
}

int main(int argc, char **argv)
{
    unsigned number = argc == 3 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    if (number > 0 && strcmp(argv[1], "churn") == 0) {
        churn(number);
    } else if (number >= 10 && strcmp(argv[1], "serial") == 0) {
        serial(number);
    } else {
        bench_stop("usage: malloc-threads churn SECONDS | serial THREADS");
    }
    return EXIT_SUCCESS;
}
