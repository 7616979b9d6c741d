/*
 * hot_target.c - threads that allocate and free at full speed, and say how much they hold.
 *
 * Usage: hot_target THREADS SLOTS FILE. Each thread owns SLOTS places; again and again it takes
 * one at random, frees the block in it or puts a new one there. FILE is a shared mapping of
 * struct hot_counter, one for each thread: what an observer may compare with. The bytes of
 * a block are counted as malloc's chunk, before it is freed and after it was allocated, so
 * the true number in use is never below what is counted. The program ends by itself.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LONGEST_SECONDS = 600,
    LARGEST_THREADS = 64,
    LARGEST_SLOTS = 1 << 20,
    CHUNK_HEADER_BYTES = 8,
    COUNTER_BYTES = 64,
};

/* One cache line each, so that threads do not slow each other down. */
struct hot_counter {
    _Alignas(COUNTER_BYTES) _Atomic uint64_t live_bytes;
    _Atomic uint64_t operations;
    _Atomic uint64_t filled;
    _Atomic uint64_t least_bytes; /* of live_bytes, since an observer last wrote here */
    _Atomic uint64_t most_bytes;
};

struct worker {
    struct hot_counter *counter;
    size_t slots;
    uint64_t random;
    void **blocks;
};

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t block_bytes(uint64_t random)
{
    uint64_t kind = random >> 32;

    return kind % 64 == 0 ? 1024 + random % 8192 : 8 + random % 1500;
}

static void note_bounds(struct hot_counter *counter)
{
    uint64_t live = atomic_load_explicit(&counter->live_bytes, memory_order_relaxed);

    if (live < atomic_load_explicit(&counter->least_bytes, memory_order_relaxed)) {
        atomic_store_explicit(&counter->least_bytes, live, memory_order_relaxed);
    }
    if (live > atomic_load_explicit(&counter->most_bytes, memory_order_relaxed)) {
        atomic_store_explicit(&counter->most_bytes, live, memory_order_relaxed);
    }
}

static void change_slot(struct worker *worker, size_t slot)
{
    struct hot_counter *counter = worker->counter;

    if (worker->blocks[slot] != NULL) {
        uint64_t bytes = malloc_usable_size(worker->blocks[slot]) + CHUNK_HEADER_BYTES;
        atomic_fetch_sub_explicit(&counter->live_bytes, bytes, memory_order_relaxed);
        free(worker->blocks[slot]);
        worker->blocks[slot] = NULL;
    } else {
        char *block = malloc(block_bytes(next_random(&worker->random)));
        if (block == NULL) {
            abort();
        }
        block[0] = 1;
        worker->blocks[slot] = block;
        atomic_fetch_add_explicit(&counter->live_bytes,
            malloc_usable_size(block) + CHUNK_HEADER_BYTES, memory_order_relaxed);
    }
    note_bounds(counter);
}

static void *work(void *argument)
{
    struct worker *worker = argument;

    worker->blocks = calloc(worker->slots, sizeof(*worker->blocks));
    if (worker->blocks == NULL) {
        abort();
    }
    for (size_t slot = 0; slot < worker->slots; slot++) {
        change_slot(worker, slot);
    }
    atomic_store(&worker->counter->filled, 1);
    for (;;) {
        change_slot(worker, (size_t)(next_random(&worker->random) % worker->slots));
        atomic_fetch_add_explicit(&worker->counter->operations, 1, memory_order_relaxed);
    }
    return NULL;
}

static struct hot_counter *map_counters(const char *path)
{
    size_t bytes = LARGEST_THREADS * sizeof(struct hot_counter);
    int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    void *memory;

    if (fd < 0 || ftruncate(fd, (off_t)bytes) != 0) {
        perror("hot_target: cannot make the file");
        exit(1);
    }
    memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (memory == MAP_FAILED) {
        perror("hot_target: cannot map the file");
        exit(1);
    }
    (void)close(fd);
    return memory;
}

int main(int count, char **arguments)
{
    static struct worker workers[LARGEST_THREADS];
    struct hot_counter *counters;
    unsigned long threads, slots;

    if (count != 4) {
        (void)fprintf(stderr, "usage: hot_target THREADS SLOTS FILE\n");
        return 2;
    }
    threads = strtoul(arguments[1], NULL, 10);
    slots = strtoul(arguments[2], NULL, 10);
    if (threads < 1 || threads > LARGEST_THREADS || slots < 1 || slots > LARGEST_SLOTS) {
        (void)fprintf(stderr, "hot_target: number out of range\n");
        return 2;
    }
    (void)alarm(LONGEST_SECONDS);
    counters = map_counters(arguments[3]);
    for (size_t i = 0; i < threads; i++) {
        pthread_t thread;
        workers[i] = (struct worker){
            .counter = &counters[i], .slots = slots, .random = 88172645463325252u + i};
        if (pthread_create(&thread, NULL, work, &workers[i]) != 0) {
            perror("hot_target: cannot start a thread");
            return 1;
        }
    }
    for (size_t i = 0; i < threads; i++) {
        while (atomic_load(&counters[i].filled) == 0) {
            (void)usleep(1000);
        }
    }
    (void)puts("ready");
    (void)fflush(stdout);
    for (;;) {
        (void)pause();
    }
}
