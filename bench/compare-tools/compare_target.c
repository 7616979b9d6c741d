/*
 * compare_target.c - a program of many arenas that knows what it holds and when it was stopped.
 *
 * Usage: compare_target FILE work|rest|busy. FILE becomes a shared mapping of struct known. Eight threads
 * fill their places with blocks, change them at random, and drop three of four. work: then the
 * program ends; rest: it waits to be looked at; busy: the threads go on changing until it is killed.
 */
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum {
    THREADS = 8,
    SLOTS = 20000,
    CHANGES = 300000, /* of a thread */
    HEADER_BYTES = 8,
    BEAT_NS = 1000000,
    LONGEST_SECONDS = 1800,
};

struct known {
    _Atomic uint64_t live_bytes; /* as chunks of malloc */
    _Atomic uint64_t live_blocks;
    _Atomic uint64_t operations;
    _Atomic uint64_t longest_gap_ns; /* between two beats; an observer may set it to 0 */
    _Atomic uint64_t threads_done;
};

static struct known *known;
static int goes_on, ends;

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static void drop(void **slot)
{
    if (*slot != NULL) {
        atomic_fetch_sub(&known->live_bytes, malloc_usable_size(*slot) + HEADER_BYTES);
        atomic_fetch_sub(&known->live_blocks, 1);
        free(*slot);
        *slot = NULL;
    }
}

static void take(void **slot, uint64_t *random)
{
    const size_t bytes = 8 + next_random(random) % 1500;

    *slot = malloc(bytes);
    if (*slot == NULL) {
        abort();
    }
    memset(*slot, 1, bytes);
    atomic_fetch_add(&known->live_bytes, malloc_usable_size(*slot) + HEADER_BYTES);
    atomic_fetch_add(&known->live_blocks, 1);
}

static void change(void **slots, uint64_t *random)
{
    void **slot = &slots[next_random(random) % SLOTS];

    drop(slot);
    take(slot, random);
    atomic_fetch_add(&known->operations, 1);
}

static void *work(void *number)
{
    static void *places[THREADS][SLOTS];
    void **slots = places[(uintptr_t)number];
    uint64_t random = 88172645463325252u + (uintptr_t)number;

    for (size_t i = 0; i < SLOTS; i++) {
        take(&slots[i], &random);
    }
    for (size_t i = 0; i < CHANGES; i++) {
        change(slots, &random);
    }
    for (size_t i = 0; i < SLOTS; i++) {
        if (next_random(&random) % 4 != 0) {
            drop(&slots[i]);
        }
    }
    atomic_fetch_add(&known->threads_done, 1);
    while (goes_on) {
        change(slots, &random);
    }
    while (!ends) {
        (void)pause();
    }
    return NULL;
}

static uint64_t now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Before all programs of normal priority, where that is allowed: what is late is then stopped. */
static void *beat(void *nothing)
{
    const struct sched_param first = {.sched_priority = 1};
    const struct timespec pause_time = {.tv_nsec = BEAT_NS};
    uint64_t last = now_ns();

    (void)pthread_setschedparam(pthread_self(), SCHED_RR, &first);
    for (;;) {
        (void)nanosleep(&pause_time, NULL);
        const uint64_t now = now_ns();
        if (now - last > atomic_load(&known->longest_gap_ns)) {
            atomic_store(&known->longest_gap_ns, now - last);
        }
        last = now;
    }
    return nothing;
}

static void map_known(const char *path)
{
    const int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);

    if (fd < 0 || ftruncate(fd, sizeof(*known)) != 0) {
        perror("compare_target: cannot make the file");
        exit(1);
    }
    known = mmap(NULL, sizeof(*known), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (known == MAP_FAILED) {
        perror("compare_target: cannot map the file");
        exit(1);
    }
    (void)close(fd);
}

int main(int count, char **words)
{
    pthread_t threads[THREADS];
    pthread_t heart;

    if (count != 3) {
        (void)fprintf(stderr, "usage: compare_target FILE work|rest|busy\n");
        return 2;
    }
    (void)alarm(LONGEST_SECONDS);
    goes_on = strcmp(words[2], "busy") == 0;
    ends = strcmp(words[2], "work") == 0;
    map_known(words[1]);
    if (!ends && pthread_create(&heart, NULL, beat, NULL) != 0) {
        return 1;
    }
    for (size_t i = 0; i < THREADS; i++) {
        if (pthread_create(&threads[i], NULL, work, (void *)i) != 0) {
            return 1;
        }
    }
    for (size_t i = 0; i < THREADS; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    return 0;
}
