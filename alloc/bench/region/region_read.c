/*
 * region-read: does a reader of the statistics region slow its process down?
 *
 * usage: region-read PAIRS READS_PER_SECOND, with libstrata-malloc.so in front
 *
 * Two threads allocate and free as fast as they can, in slices of 200 ms of their own
 * processor time; a child process reads the region, as an outsider, so many times a second
 * in every second slice, and sleeps in the others. Which of a pair has the reader changes
 * from pair to pair, so that a slow minute hits both alike. Compared are operations for each
 * second of processor time with and without; the reader's own time is told beside.
 * One line: median and quartiles of the ratios, and the reader's figures.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strata/layout.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

#define THREADS 2
#define SLOTS 4096
#define ROUND 2000
#define SLICE_NS 200000000
#define SECOND_NS 1000000000L
#define PAIRS_MAX 1000
#define CPUS_MAX 64

enum reader_state { READER_SLEEPS, READER_READS, READER_ENDS };

/* What both processes see. */
struct shared {
    _Atomic int state;
    _Atomic uint64_t reads, equal, cpu_ns, reading_cpu_ns;
};

static struct shared *shared;

static _Noreturn void stop(const char *what)
{
    fprintf(stderr, "region-read: %s: %s\n", what, strerror(errno));
    exit(EXIT_FAILURE);
}

static uint64_t now_ns(clockid_t clock)
{
    struct timespec now = {0};
    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * SECOND_NS + (uint64_t)now.tv_nsec;
}

/* ---- the reader */

/* The segment that the process made: the only one of it with the right first bytes. */
static const struct strata_region *find_region(pid_t pid)
{
    char line[512];
    FILE *list = fopen("/proc/sysvipc/shm", "r");
    while (list != NULL && fgets(line, sizeof(line), list) != NULL) {
        int id = 0;
        int creator = 0;
        if (sscanf(line, "%*d %d %*o %*u %d", &id, &creator) != 2 || creator != pid) {
            continue;
        }
        const void *segment = shmat(id, NULL, SHM_RDONLY);
        if (segment != (void *)-1 &&
            memcmp(segment, STRATA_LAYOUT_MAGIC, sizeof(STRATA_LAYOUT_MAGIC)) == 0) {
            (void)fclose(list);
            return segment;
        }
    }
    return NULL;
}

/* What strata explain copies: all that is used. */
struct copy {
    unsigned char figures[offsetof(struct strata_region, tags)];
    struct strata_layout_cpu cpus[CPUS_MAX];
};

static void take(struct copy *to, const struct strata_region *region)
{
    uint32_t cpus = region->cpus_used < CPUS_MAX ? region->cpus_used : CPUS_MAX;
    memcpy(to->figures, region,
        offsetof(struct strata_region, classes) +
            region->class_count * sizeof(region->classes[0]));
    memcpy(to->cpus, region->cpus, cpus * sizeof(region->cpus[0]));
}

static _Noreturn void read_on(pid_t pid, long per_second)
{
    static struct copy copies[2];
    const struct strata_region *region = find_region(pid);
    struct timespec next = {0};
    if (region == NULL) {
        fprintf(stderr, "region-read: no statistics region: is "
                        "libstrata-malloc.so in LD_PRELOAD?\n");
        _exit(EXIT_FAILURE);
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &next);
    while (atomic_load(&shared->state) != READER_ENDS) {
        next.tv_nsec += SECOND_NS / per_second;
        if (next.tv_nsec >= SECOND_NS) {
            next.tv_nsec -= SECOND_NS;
            next.tv_sec++;
        }
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
        if (atomic_load(&shared->state) != READER_READS) {
            (void)clock_gettime(CLOCK_MONOTONIC, &next);
            continue;
        }
        uint64_t start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        take(&copies[0], region);
        take(&copies[1], region);
        atomic_fetch_add(
            &shared->equal, memcmp(&copies[0], &copies[1], sizeof(copies[0])) == 0);
        uint64_t end = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        atomic_fetch_add(&shared->reading_cpu_ns, end - start);
        atomic_fetch_add(&shared->reads, 1);
        atomic_store(&shared->cpu_ns, end);
    }
    _exit(EXIT_SUCCESS);
}

/* ---- the workers */

struct worker {
    pthread_t thread;
    uint64_t random;
    uint64_t operations, cpu_ns; /* of the last slice */
    void *slots[SLOTS];
};

static struct worker workers[THREADS];

static void operate(struct worker *worker)
{
    for (int i = 0; i < ROUND; i++) {
        uint64_t number = random_next(&worker->random);
        void **slot = &worker->slots[number % SLOTS];
        free(*slot);
        *slot = malloc(number >> 32 & 1023);
    }
}

static void *work(void *context)
{
    struct worker *worker = context;
    uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    worker->operations = 0;
    do {
        operate(worker);
        worker->operations += ROUND;
        worker->cpu_ns = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    } while (worker->cpu_ns < SLICE_NS);
    return NULL;
}

/* Operations for each nanosecond of processor time. */
static double slice(enum reader_state state)
{
    double rate = 0;
    atomic_store(&shared->state, (int)state);
    for (unsigned i = 0; i < THREADS; i++) {
        if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0) {
            stop("cannot start a thread");
        }
    }
    for (unsigned i = 0; i < THREADS; i++) {
        (void)pthread_join(workers[i].thread, NULL);
        rate += (double)workers[i].operations / (double)workers[i].cpu_ns;
    }
    atomic_store(&shared->state, READER_SLEEPS);
    return rate;
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void report(double *ratios, long pairs, uint64_t reading_ns, double with_rate)
{
    uint64_t reads = atomic_load(&shared->reads);
    qsort(ratios, (size_t)pairs, sizeof(*ratios), by_size);
    printf(
        "throughput with the reader / without: %.4f (quartiles %.4f to %.4f, %ld "
        "pairs); %.0f reads a second, %.1f us each and %.1f us with waking up, %.0f %% "
        "at rest; %.1f million "
        "pairs of malloc and free a second of processor time\n",
        ratios[pairs / 2], ratios[pairs / 4], ratios[pairs * 3 / 4], pairs,
        (double)reads * SECOND_NS / (double)reading_ns,
        (double)atomic_load(&shared->reading_cpu_ns) / (double)reads / 1000,
        (double)atomic_load(&shared->cpu_ns) / (double)reads / 1000,
        100.0 * (double)atomic_load(&shared->equal) / (double)reads,
        with_rate * 1000 / THREADS);
}

int main(int count, char **words)
{
    static double ratios[PAIRS_MAX];
    long pairs = count > 2 ? strtol(words[1], NULL, 10) : 0;
    long per_second = count > 2 ? strtol(words[2], NULL, 10) : 0;
    if (pairs < 1 || pairs > PAIRS_MAX || per_second < 1 || per_second > 100000) {
        fprintf(stderr, "usage: region-read PAIRS READS_PER_SECOND\n");
        return EXIT_FAILURE;
    }
    shared = mmap(
        NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED) {
        stop("cannot share memory");
    }
    pid_t parent = getpid();
    pid_t reader = fork();
    if (reader == 0) {
        read_on(parent, per_second);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].random = i + 1;
    }
    (void)slice(READER_SLEEPS); /* warms up */
    uint64_t reading_ns = 0;
    double with = 0;
    for (long i = 0; i < pairs; i++) {
        double without = i % 2 == 0 ? slice(READER_SLEEPS) : 0;
        uint64_t start = now_ns(CLOCK_MONOTONIC);
        with = slice(READER_READS);
        reading_ns += now_ns(CLOCK_MONOTONIC) - start;
        without = i % 2 == 0 ? without : slice(READER_SLEEPS);
        ratios[i] = with / without;
    }
    atomic_store(&shared->state, READER_ENDS);
    int status = 0;
    (void)waitpid(reader, &status, 0);
    if (status != 0 || atomic_load(&shared->reads) == 0) {
        return EXIT_FAILURE;
    }
    report(ratios, pairs, reading_ns, with);
    return EXIT_SUCCESS;
}
