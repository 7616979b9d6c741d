/*
 * bench_glibc_read.c - how long reading a heap takes and how much memory of our own.
 *
 *   bench_glibc_read BLOCK_BYTES [MEGABYTES [FREED_EVERY]]
 *
 * Makes a heap of equal blocks in a child (each FREED_EVERY-th one freed again; 0: none), reads it from
 * outside a few times and prints seconds, chunks and the largest resident set of the
 * reader. It measures and judges nothing.
 */
#include <malloc.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "facts/collect.h"

enum { MEBIBYTE = 1 << 20, DEFAULT_MEGABYTES = 1024, ROUNDS = 5 };

/* The child: builds, tells, waits to be killed. */
static void build(
    size_t block_bytes, uint64_t heap_bytes, uint64_t freed_every, int ready)
{
    const uint64_t count =
        heap_bytes / (block_bytes + 8 < 32 ? 32 : (block_bytes + 8 + 15) / 16 * 16);
    void **kept = NULL;

    for (uint64_t i = 0; i < count; i++) {
        void **block = malloc(block_bytes);
        if (block == NULL) {
            abort();
        }
        *block = kept; /* a list through the blocks: no array of its own */
        kept = block;
    }
    for (uint64_t i = 0; kept != NULL; i++) {
        void **next = *kept;
        if (freed_every != 0 && i % freed_every == 0) {
            free(kept);
        }
        kept = next;
    }
    if (write(ready, "", 1) != 1) {
        abort();
    }
    for (;;) {
        pause();
    }
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static int read_child(pid_t child)
{
    struct facts_root root;
    struct error error = {0};
    struct facts facts;
    struct rusage usage;
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", child);
    if (facts_root_open(&root, NULL, &error) != 0) {
        return 1;
    }
    for (int i = 0; i < ROUNDS; i++) {
        const double start = seconds_of(CLOCK_MONOTONIC);
        const double cpu = seconds_of(CLOCK_PROCESS_CPUTIME_ID);
        if (facts_collect(&root, pid, COLLECT_STATUS | COLLECT_HEAPS, &facts, &error) !=
            0) {
            (void)fprintf(stderr, "%s\n", error.text);
            return 1;
        }
        const double taken = seconds_of(CLOCK_MONOTONIC) - start;
        const double used = seconds_of(CLOCK_PROCESS_CPUTIME_ID) - cpu;
        const struct glibc_arena *arena = &facts.processes[0].glibc.arenas[0];
        printf("%.3f s (cpu %.3f s)  %s  %lu chunks in use, %lu free, %lu fast, held %lu "
               "MiB\n",
            taken, used, fact_state_names[facts.processes[0].glibc.state],
            arena->in_use_chunks, arena->free_chunks, arena->fast_chunks,
            arena->held_bytes / MEBIBYTE);
        region_release(&facts.region);
    }
    facts_root_close(&root);
    getrusage(RUSAGE_SELF, &usage);
    printf("own peak resident set %ld KiB\n", usage.ru_maxrss);
    return 0;
}

int main(int argc, char **argv)
{
    const size_t block_bytes = argc > 1 ? strtoull(argv[1], NULL, 10) : 24;
    const uint64_t megabytes = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_MEGABYTES;
    const uint64_t freed_every = argc > 3 ? strtoull(argv[3], NULL, 10) : 8;
    int ready[2], result;
    char byte;
    pid_t child;

    if (pipe(ready) != 0) {
        return 1;
    }
    child = fork();
    if (child == 0) {
        build(block_bytes < 8 ? 8 : block_bytes, megabytes * MEBIBYTE, freed_every,
            ready[1]);
    }
    close(ready[1]);
    result = read(ready[0], &byte, 1) == 1 ? read_child(child) : 1;
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    return result;
}
