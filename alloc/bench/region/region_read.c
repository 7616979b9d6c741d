/*
 * region-read: does a reader of the statistics region slow its process down?
 *
 * usage: region-read PAIRS READS_PER_SECOND, with libstrata-malloc.so in front
 *
 * One thread, held on one CPU, allocates and frees in slices of 20 ms of its own processor
 * time. A pair is a slice alone and a slice beside a second process, in an order that
 * changes from pair to pair, so that a slow moment hits both alike; their rates for each
 * second of the thread's processor time are divided. What the second process takes for
 * itself is told apart. Pairs of several kinds take turns:
 *
 * nobody: alone in both, which shows what the method can tell;
 * reader: the region is read, as by an outsider, on the other CPU or on the same;
 * waker: as often, as many bytes of the second process's own memory are copied: what waking
 * up and a busy sibling of the core cost, whatever is read.
 *
 * A line for each: median of the ratios with its interval of 95 % (by ranks), the quartiles.
 */
#include <errno.h>
#include <linux/futex.h>
#include <math.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strata/layout.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "random.h"

#define SLOTS 4096
#define ROUND 500
#define SLICE_NS 20000000
#define SECOND_NS 1000000000L
#define PAIRS_MAX 10000
#define CPUS_MAX 64

enum task { TASK_SLEEP, TASK_READ, TASK_WAKE, TASK_END };

struct kind {
    const char *name;
    enum task task;
    int same_cpu;
};
static const struct kind kinds[] = {{"nobody", TASK_SLEEP, 0},
    {"waker, other CPU", TASK_WAKE, 0}, {"reader, other CPU", TASK_READ, 0},
    {"waker, same CPU", TASK_WAKE, 1}, {"reader, same CPU", TASK_READ, 1}};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* What the second process has done in slices of one kind. */
struct done {
    uint64_t reads, equal, cpu_ns, copying_ns, elapsed_ns;
};

/* What both processes see. The orders are written before their number, which is a futex. */
struct shared {
    _Atomic uint32_t order, obeyed;
    unsigned kind;
    enum task task;
    int cpu;
    struct done done[KINDS];
};

static struct shared *shared;
static pid_t reader;

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

static void stay_on(int cpu)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) != 0) {
        stop("cannot choose the CPU");
    }
}

/* Ends this process when `other`, its child or its parent, has ended. */
static void wait_while(_Atomic uint32_t *word, uint32_t value, pid_t other)
{
    const struct timespec a_second = {.tv_sec = 1};
    while (atomic_load(word) == value) {
        (void)syscall(SYS_futex, word, FUTEX_WAIT, value, &a_second, NULL, 0);
        if (waitpid(other, NULL, WNOHANG) == other ||
            (waitpid(other, NULL, WNOHANG) < 0 && getppid() != other)) {
            exit(EXIT_FAILURE);
        }
    }
}

static void set_and_wake(_Atomic uint32_t *word, uint32_t value)
{
    atomic_store(word, value);
    (void)syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- the reader */

/* The segment that the process made: the only one of it with the right first bytes. */
static const struct strata_region *find_region(pid_t pid)
{
    char line[512];
    FILE *list = fopen("/proc/sysvipc/shm", "r");
    while (list != NULL && fgets(line, sizeof(line), list) != NULL) {
        long fields[5] = {0}; /* key, id, mode, bytes, the process that made it */
        char *at = line;
        for (size_t i = 0; i < 5; i++) {
            fields[i] = strtol(at, &at, 10);
        }
        if (fields[4] != pid) {
            continue;
        }
        const void *segment = shmat((int)fields[1], NULL, SHM_RDONLY);
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

/* Twice the bytes, as strata explain does, which wants to see nothing change. */
static int copy_twice(const struct strata_region *region)
{
    static struct copy copies[2];
    take(&copies[0], region);
    take(&copies[1], region);
    return memcmp(&copies[0], &copies[1], sizeof(copies[0])) == 0;
}

static void copy_until(
    uint32_t order, const struct strata_region *from, long per_second, struct done *done)
{
    struct timespec next = {0};
    uint64_t begin = now_ns(CLOCK_MONOTONIC);
    uint64_t begin_cpu = now_ns(CLOCK_PROCESS_CPUTIME_ID);
    (void)clock_gettime(CLOCK_MONOTONIC, &next);
    while (atomic_load(&shared->order) == order) {
        uint64_t start = now_ns(CLOCK_PROCESS_CPUTIME_ID);
        done->equal += (unsigned)copy_twice(from);
        done->copying_ns += now_ns(CLOCK_PROCESS_CPUTIME_ID) - start;
        done->reads++;
        next.tv_nsec += SECOND_NS / per_second;
        if (next.tv_nsec >= SECOND_NS) {
            next.tv_nsec -= SECOND_NS;
            next.tv_sec++;
        }
        (void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &next, NULL);
    }
    done->cpu_ns += now_ns(CLOCK_PROCESS_CPUTIME_ID) - begin_cpu;
    done->elapsed_ns += now_ns(CLOCK_MONOTONIC) - begin;
}

static _Noreturn void obey(pid_t pid, long per_second)
{
    const struct strata_region *region = find_region(pid);
    const struct strata_region *own = NULL;
    if (region == NULL) {
        fprintf(stderr, "region-read: no statistics region: is "
                        "libstrata-malloc.so in LD_PRELOAD?\n");
        _exit(EXIT_FAILURE);
    }
    own = mmap(
        NULL, sizeof(*own), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (own == MAP_FAILED) {
        stop("no memory");
    }
    memcpy((void *)own, region, offsetof(struct strata_region, tags));
    for (uint32_t order = 0;;) {
        wait_while(&shared->order, order, pid);
        order = atomic_load(&shared->order);
        if (shared->task == TASK_END) {
            _exit(EXIT_SUCCESS);
        }
        stay_on(shared->cpu);
        set_and_wake(&shared->obeyed, order);
        if (shared->task != TASK_SLEEP) {
            copy_until(order, shared->task == TASK_READ ? region : own, per_second,
                &shared->done[shared->kind]);
        }
    }
}

/* Returns when the second process is about to begin, or has stopped. */
static void command(enum task task, unsigned kind, int cpu)
{
    uint32_t order = atomic_load(&shared->order) + 1;
    shared->task = task;
    shared->kind = kind;
    shared->cpu = cpu;
    set_and_wake(&shared->order, order);
    if (task != TASK_END) {
        wait_while(&shared->obeyed, order - 1, reader);
    }
}

/* ---- the worker */

static struct {
    uint64_t random;
    void *slots[SLOTS];
} worker = {.random = 1};

static void operate(void)
{
    for (int i = 0; i < ROUND; i++) {
        uint64_t number = random_next(&worker.random);
        void **slot = &worker.slots[number % SLOTS];
        free(*slot);
        *slot = malloc(number >> 32 & 1023);
    }
}

/* Operations for each nanosecond of processor time. */
static double slice(enum task task, unsigned kind, int cpu)
{
    command(task, kind, cpu);
    uint64_t start = now_ns(CLOCK_THREAD_CPUTIME_ID);
    uint64_t spent = 0;
    uint64_t operations = 0;
    do {
        operate();
        operations += ROUND;
        spent = now_ns(CLOCK_THREAD_CPUTIME_ID) - start;
    } while (spent < SLICE_NS);
    return (double)operations / (double)spent;
}

static double pair(unsigned kind, int beside_first, const int *cpus)
{
    int cpu = cpus[!kinds[kind].same_cpu];
    double beside = beside_first ? slice(kinds[kind].task, kind, cpu) : 0;
    double alone = slice(TASK_SLEEP, kind, cpu);
    return (beside_first ? beside : slice(kinds[kind].task, kind, cpu)) / alone;
}

static int by_size(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;
    return (a > b) - (a < b);
}

static void report(unsigned kind, double *ratios, long pairs)
{
    const struct done *done = &shared->done[kind];
    long half =
        (long)(0.98 * sqrt((double)pairs)); /* 1.96 standard deviations of a rank */
    long low = pairs / 2 - half > 0 ? pairs / 2 - half : 0;
    long high = pairs / 2 + half < pairs ? pairs / 2 + half : pairs - 1;
    qsort(ratios, (size_t)pairs, sizeof(*ratios), by_size);
    printf("%-18s %8.4f   %.4f to %.4f   %.4f to %.4f", kinds[kind].name,
        ratios[pairs / 2], ratios[low], ratios[high], ratios[pairs / 4],
        ratios[pairs * 3 / 4]);
    if (done->reads > 0) {
        double reads = (double)done->reads;
        printf(" %9.0f %9.1f %9.1f", reads * SECOND_NS / (double)done->elapsed_ns,
            (double)done->copying_ns / reads / 1000, (double)done->cpu_ns / reads / 1000);
        if (kinds[kind].task == TASK_READ) {
            printf(" %7.0f %%", 100.0 * (double)done->equal / reads);
        }
    }
    printf("\n");
}

/* The first two CPUs that this process may use. */
static void choose_cpus(int *cpus)
{
    cpu_set_t set;
    int found = 0;
    if (sched_getaffinity(0, sizeof(set), &set) != 0) {
        stop("cannot read the CPUs");
    }
    for (int cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
        if (CPU_ISSET(cpu, &set)) {
            cpus[found++] = cpu;
        }
    }
    if (found < 2) {
        fprintf(stderr, "region-read: two CPUs are needed\n");
        exit(EXIT_FAILURE);
    }
}

int main(int count, char **words)
{
    static double ratios[KINDS][PAIRS_MAX];
    int cpus[2];
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
    choose_cpus(cpus);
    pid_t parent = getpid();
    reader = fork();
    if (reader == 0) {
        obey(parent, per_second);
    }
    stay_on(cpus[0]);
    for (int i = 0; i < 10; i++) {
        (void)slice(TASK_SLEEP, 0, cpus[1]); /* warms up */
    }
    for (long i = 0; i < pairs; i++) {
        for (unsigned kind = 0; kind < KINDS; kind++) {
            ratios[kind][i] = pair(kind, (int)(i % 2), cpus);
        }
    }
    command(TASK_END, 0, cpus[1]);
    int status = 0;
    (void)waitpid(reader, &status, 0);
    if (status != 0) {
        return EXIT_FAILURE;
    }
    printf(
        "throughput beside / alone, %ld pairs\n%-18s %8s   %16s   %16s %9s %9s %9s %9s\n",
        pairs, "beside", "median", "95 % interval", "quartiles", "reads/s", "us each",
        "us, woken", "at rest");
    for (unsigned kind = 0; kind < KINDS; kind++) {
        report(kind, ratios[kind], pairs);
    }
    return EXIT_SUCCESS;
}
