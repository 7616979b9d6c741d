/*
 * The classic shapes of allocation, against whatever malloc the program was started with.
 *
 * usage: malloc-shapes SHAPE [WAIT_SECONDS]
 *
 * Prints one line: seconds of work and of processor time, peak RSS, RSS after the work and a wait with the live
 * data kept, and the live bytes themselves; memory in KiB. Every block is written to (its
 * first and last byte; one byte of each page), since memory that is never touched costs
 * nothing anywhere. The random numbers are the same for every allocator.
 *
 * BENCH_TAGS in the environment, with strata's malloc: once (a tag was pushed and popped
 * before the work), held (every thread works under one tag), each (a tag is pushed before
 * and popped after each allocation).
 */
#define STRATA_MALLOC_WEAK
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <strata/malloc.h>
#include <string.h>

#include "bench_common.h"
#include "random.h"

#define THREADS 2

struct block {
    char *start;
    size_t bytes;
};

static void *(*volatile call_malloc)(size_t) = malloc;
static void *(*volatile call_realloc)(void *, size_t) = realloc;

static enum { TAGS_NEVER, TAGS_ONCE, TAGS_HELD, TAGS_EACH } tags;

static void tags_choose(const char *how)
{
    if (how == NULL) {
        return;
    }
    if (strata_tag_push == NULL) {
        bench_stop("BENCH_TAGS needs libstrata-malloc.so");
    }
    tags = strcmp(how, "each") == 0   ? TAGS_EACH
           : strcmp(how, "held") == 0 ? TAGS_HELD
                                      : TAGS_ONCE;
    (void)strata_tag_push("bench/first");
    strata_tag_pop();
}

static void tag_begin(void)
{
    static __thread int held;
    if (tags == TAGS_EACH || (tags == TAGS_HELD && !held)) {
        (void)strata_tag_push("bench/block");
        held = 1;
    }
}

static void tag_end(void)
{
    if (tags == TAGS_EACH) {
        strata_tag_pop();
    }
}

/* NULL as start: a new one. */
static void block_resize(struct block *block, size_t bytes)
{
    tag_begin();
    block->start =
        block->start == NULL ? call_malloc(bytes) : call_realloc(block->start, bytes);
    tag_end();
    if (block->start == NULL) {
        bench_stop("no memory");
    }
}

static void block_new(struct block *block, size_t bytes)
{
    block->start = NULL;
    block_resize(block, bytes);
    block->bytes = bytes;
    bench_touch(block->start, 0, bytes);
}

static void block_replace(struct block *block, size_t bytes)
{
    free(block->start);
    block_new(block, bytes);
}

static size_t sum(const struct block *blocks, size_t count)
{
    size_t bytes = 0;
    for (size_t i = 0; i < count; i++) {
        bytes += blocks[i].start != NULL ? blocks[i].bytes : 0;
    }
    return bytes;
}

/* 16 to 4,095 bytes; every doubling is as likely as the next. */
static size_t small_bytes(uint64_t *random)
{
    size_t base = (size_t)16 << random_next(random) % 8;
    return base + random_next(random) % base;
}

/* One thread, 20,000 blocks of mixed sizes, one after the other replaced. */
static size_t mixed(void)
{
    enum { BLOCKS = 20000 };
    static struct block blocks[BLOCKS];
    uint64_t random = 1;
    for (size_t i = 0; i < 8000000; i++) {
        block_replace(&blocks[random_next(&random) % BLOCKS], small_bytes(&random));
    }
    return sum(blocks, BLOCKS);
}

struct worker {
    struct block blocks[2000];
    uint64_t random;
    unsigned rounds;
};

/* A thread works on its blocks, then hands them to a new thread and ends: every block is
 * freed by another thread than it came from. */
static void *larson_thread(void *argument)
{
    struct worker *worker = argument;
    for (size_t i = 0; i < 20000; i++) {
        block_replace(&worker->blocks[random_next(&worker->random) % 2000],
            10 + random_next(&worker->random) % 500);
    }
    return NULL;
}

static void *larson_chain(void *argument)
{
    struct worker *worker = argument;
    for (unsigned i = 0; i < 150; i++) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, larson_thread, worker) != 0) {
            bench_stop("no thread");
        }
        pthread_join(thread, NULL);
    }
    return NULL;
}

static size_t larson(void)
{
    static struct worker workers[THREADS];
    pthread_t threads[THREADS];
    size_t bytes = 0;
    for (size_t i = 0; i < THREADS; i++) {
        workers[i].random = i + 1;
        if (pthread_create(&threads[i], NULL, larson_chain, &workers[i]) != 0) {
            bench_stop("no thread");
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        bytes += sum(workers[i].blocks, 2000);
    }
    return bytes;
}

/* A ring of batches from a thread that only allocates to one that only frees. */
enum { RING = 64, BATCH = 100 };
static struct {
    pthread_mutex_t lock;
    pthread_cond_t changed;
    void *batches[RING][BATCH];
    size_t written, read;
} ring = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

#define BATCHES 60000

static void *consumer(void *nothing)
{
    (void)nothing;
    for (size_t i = 0; i < BATCHES; i++) {
        pthread_mutex_lock(&ring.lock);
        while (ring.read == ring.written) {
            pthread_cond_wait(&ring.changed, &ring.lock);
        }
        pthread_mutex_unlock(&ring.lock);
        for (size_t j = 0; j < BATCH; j++) {
            free(ring.batches[i % RING][j]);
        }
        pthread_mutex_lock(&ring.lock);
        ring.read++;
        pthread_cond_signal(&ring.changed);
        pthread_mutex_unlock(&ring.lock);
    }
    return NULL;
}

static size_t remote(void)
{
    pthread_t thread;
    uint64_t random = 3;
    if (pthread_create(&thread, NULL, consumer, NULL) != 0) {
        bench_stop("no thread");
    }
    for (size_t i = 0; i < BATCHES; i++) {
        pthread_mutex_lock(&ring.lock);
        while (ring.written - ring.read == RING) {
            pthread_cond_wait(&ring.changed, &ring.lock);
        }
        pthread_mutex_unlock(&ring.lock);
        for (size_t j = 0; j < BATCH; j++) {
            struct block block;
            block_new(&block, 16 + random_next(&random) % 300);
            ring.batches[i % RING][j] = block.start;
        }
        pthread_mutex_lock(&ring.lock);
        ring.written++;
        pthread_cond_signal(&ring.changed);
        pthread_mutex_unlock(&ring.lock);
    }
    pthread_join(thread, NULL);
    return 0;
}

/* Bursts of one size after another, of which one in twenty blocks lives until the end. */
static size_t bursts(void)
{
    enum { BLOCKS = 200000, BURSTS = 12 };
    static struct block blocks[BLOCKS];
    static struct block kept[BURSTS * BLOCKS / 20 + BURSTS];
    size_t kept_count = 0;
    uint64_t random = 4;
    for (size_t burst = 0; burst < BURSTS; burst++) {
        for (size_t i = 0; i < BLOCKS; i++) {
            block_new(&blocks[i], 24 + burst * 20 + random_next(&random) % 64);
        }
        for (size_t i = 0; i < BLOCKS; i++) {
            if (i % 20 == 0) {
                kept[kept_count++] = blocks[i];
            } else {
                free(blocks[i].start);
            }
        }
    }
    return sum(kept, kept_count);
}

/* Vectors that grow by half, 2,000 at a time, to 100 bytes up to 1 MiB. */
static size_t growth(void)
{
    enum { VECTORS = 200 };
    static struct block vectors[VECTORS];
    uint64_t random = 5;
    for (size_t round = 0; round < 60000; round++) {
        struct block *vector = &vectors[random_next(&random) % VECTORS];
        size_t limit = (size_t)100 << random_next(&random) % 14;
        size_t bytes = 16;
        free(vector->start);
        vector->start = NULL;
        while (bytes < limit) {
            block_resize(vector, bytes);
            bench_touch(vector->start, vector->bytes < bytes ? vector->bytes : 0, bytes);
            vector->bytes = bytes;
            bytes += bytes / 2;
        }
    }
    return sum(vectors, VECTORS);
}

/* 64 KiB to 8 MiB, 40 at a time. */
static size_t big(void)
{
    enum { BLOCKS = 40 };
    static struct block blocks[BLOCKS];
    uint64_t random = 6;
    for (size_t i = 0; i < 6000; i++) {
        size_t base = (size_t)65536 << random_next(&random) % 7;
        block_replace(
            &blocks[random_next(&random) % BLOCKS], base + random_next(&random) % base);
    }
    return sum(blocks, BLOCKS);
}

/* 64 MiB in blocks of 8 bytes, of which one is left. The array of pointers, as large,
 * was there before. */
static size_t tiny(void)
{
    enum { BLOCKS = 8 << 20 };
    static char *blocks[BLOCKS];
    for (size_t i = 0; i < BLOCKS; i++) {
        struct block block;
        block_new(&block, 8);
        blocks[i] = block.start;
    }
    for (size_t i = 0; i + 1 < BLOCKS; i++) {
        free(blocks[i]);
    }
    return 8;
}

/* Threads that live for a moment, 16 at a time; some blocks outlive them. */
struct churn {
    struct block kept[4];
    uint64_t random;
};

static void *churn_thread(void *argument)
{
    struct churn *churn = argument;
    struct block blocks[100] = {{0}};
    for (size_t i = 0; i < 4000; i++) {
        size_t bytes = (size_t)16 << random_next(&churn->random) % 12;
        block_replace(&blocks[random_next(&churn->random) % 100], bytes);
    }
    for (size_t i = 0; i < 100; i++) {
        if (i < 4) {
            churn->kept[i] = blocks[i];
        } else {
            free(blocks[i].start);
        }
    }
    return NULL;
}

static size_t churn(void)
{
    enum { ALIVE = 16, ROUNDS = 60 };
    static struct churn states[ALIVE * ROUNDS];
    pthread_t threads[ALIVE];
    size_t bytes = 0;
    for (size_t round = 0; round < ROUNDS; round++) {
        for (size_t i = 0; i < ALIVE; i++) {
            struct churn *state = &states[round * ALIVE + i];
            state->random = round * ALIVE + i + 1;
            if (pthread_create(&threads[i], NULL, churn_thread, state) != 0) {
                bench_stop("no thread");
            }
        }
        for (size_t i = 0; i < ALIVE; i++) {
            pthread_join(threads[i], NULL);
        }
    }
    for (size_t i = 0; i < ALIVE * ROUNDS; i++) {
        if (i % 4 == 0) {
            bytes += sum(states[i].kept, 4);
        } else {
            for (size_t j = 0; j < 4; j++) {
                free(states[i].kept[j].start);
            }
        }
    }
    return bytes;
}

/* What a program that does nothing pays. */
static size_t nothing(void)
{
    return 0;
}

static const struct {
    const char *name;
    size_t (*run)(void);
} shapes[] = {{"mixed", mixed}, {"larson", larson}, {"remote", remote},
    {"bursts", bursts}, {"growth", growth}, {"big", big}, {"tiny", tiny},
    {"churn", churn}, {"nothing", nothing}};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc > 1 && i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (strcmp(argv[1], shapes[i].name) == 0) {
            struct bench_result result = {0};
            tags_choose(getenv("BENCH_TAGS"));
            bench_start(&result);
            result.live_bytes = shapes[i].run();
            bench_end(&result);
            bench_print(&result, argc > 2 ? argv[2] : NULL);
            return EXIT_SUCCESS;
        }
    }
    bench_stop("usage: malloc-shapes SHAPE [WAIT_SECONDS]");
}
