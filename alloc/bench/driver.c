/*
 * Measures one peer: bench-heap-PEER METRIC
 *
 * Metrics and what is printed, one line `NAME VALUE` each:
 *   op-10, op-50, op-90   replays a request of which so many percent of the blocks are
 *                         freed before its end. `op` is ns for one alloc or free, `request`
 *                         microseconds for the whole request with its end.
 *   end                   fills 100 MB with small blocks. `drop` is microseconds for ending
 *                         the request at once, `free` block by block in the order of
 *                         allocation, both after ten rounds (what a peer keeps by an
 *                         average of the past has settled by then); `end-cold` is the
 *                         first end of the process in the way the peer has. `rss-full`
 *                         is RSS in KiB above the start with the 100 MB in place,
 *                         `rss-after` after the first end, `rss-later` after five small
 *                         requests more.
 *
 * Time is this thread's processor time, kernel included: a peer pays for its page faults
 * and system calls, but not for what else runs on the machine. Every block is written to
 * once, since a block nobody touches is no block of a program. The first round of a
 * metric is cold and not counted unless it says so; the median of the others is.
 */
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "peer.h"
#include "resident.h"
#include "trace.h"

enum {
    REQUEST_ALLOCATIONS = 30000,
    REQUEST_ROUNDS = 41,
    FILL_BYTES = 100000000,
    FILL_ROUNDS = 7,
    FILL_WARM_ROUNDS = 10,
    SMALL_ALLOCATIONS = 3000,
    SMALL_PERCENT = 50,
    LATER_REQUESTS = 5,
    MOST_ROUNDS = 64,
    KIB = 1024,
};

static const double NS_PER_US = 1000.0;

/* A trace and where its blocks are. */
struct bench {
    struct peer *peer;
    struct trace trace;
    void **blocks; /* by slot */
};

static _Noreturn void die(const char *what)
{
    fprintf(stderr, "bench: %s failed\n", what);
    exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
    struct timespec now;
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) != 0) {
        die("clock_gettime");
    }
    return (uint64_t)now.tv_sec * 1000000000U + (uint64_t)now.tv_nsec;
}

static int64_t rss_kib(void)
{
    int64_t bytes = resident_bytes();
    if (bytes < 0) {
        die("reading '/proc/self/statm'");
    }
    return bytes / KIB;
}

static int compare_times(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a;
    uint64_t right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

static double median(uint64_t *times, size_t count)
{
    qsort(times, count, sizeof(*times), compare_times);
    size_t middle = count / 2;
    return (double)times[middle];
}

/* Before each replay, and not measured: no slot has a block. */
static void bench_clear(struct bench *bench)
{
    memset(bench->blocks, 0, bench->trace.slots * sizeof(*bench->blocks));
}

/* The blocks are checked at the end of a round only: the loop measures the peer. */
static void bench_replay(struct bench *bench)
{
    const struct trace_step *step = bench->trace.steps;
    const struct trace_step *end = step + bench->trace.count;
    for (; step < end; step++) {
        if (step->bytes > 0) {
            void *block = peer_alloc(bench->peer, step->bytes);
            *(void **)block = block;
            bench->blocks[step->slot] = block;
        } else {
            peer_free(bench->peer, bench->blocks[step->slot]);
            bench->blocks[step->slot] = NULL;
        }
    }
}

static void bench_free_blocks(struct bench *bench)
{
    for (size_t slot = 0; slot < bench->trace.slots; slot++) {
        if (bench->blocks[slot] != NULL) {
            peer_free(bench->peer, bench->blocks[slot]);
        }
    }
}

static void bench_check_blocks(const struct bench *bench)
{
    for (size_t slot = 0; slot < bench->trace.slots; slot++) {
        void *block = bench->blocks[slot];
        if (block != NULL && *(void **)block != block) {
            die("a block kept its content: the check");
        }
    }
}

static void bench_end_request(struct bench *bench)
{
    if (PEER_DROPS) {
        peer_drop(bench->peer);
    } else {
        bench_free_blocks(bench);
    }
}

/* error is what making the trace answered. */
static void bench_init_blocks(struct bench *bench, int error)
{
    if (error == 0) {
        bench->blocks = calloc(bench->trace.slots, sizeof(*bench->blocks));
    }
    if (bench->blocks == NULL) {
        die("making a trace");
    }
}

static void bench_release(struct bench *bench)
{
    free(bench->blocks);
    trace_release(&bench->trace);
}

static void measure_requests(struct peer *peer, unsigned freed_percent)
{
    uint64_t replay[MOST_ROUNDS];
    uint64_t whole[MOST_ROUNDS];
    struct bench bench = {.peer = peer};
    bench_init_blocks(
        &bench, trace_init_request(&bench.trace, REQUEST_ALLOCATIONS, freed_percent));
    for (size_t round = 0; round < REQUEST_ROUNDS; round++) {
        bench_clear(&bench);
        uint64_t start = now_ns();
        bench_replay(&bench);
        uint64_t replayed = now_ns();
        bench_check_blocks(&bench);
        uint64_t ending = now_ns();
        bench_end_request(&bench);
        replay[round] = replayed - start;
        whole[round] = replayed - start + now_ns() - ending;
    }
    double steps = (double)bench.trace.count;
    printf("op %.3f\n", median(replay + 1, REQUEST_ROUNDS - 1) / steps);
    printf("request %.1f\n", median(whole + 1, REQUEST_ROUNDS - 1) / NS_PER_US);
    bench_release(&bench);
}

/* Fills and empties; the time which emptying takes. */
static uint64_t fill_round(struct bench *bench, bool at_once)
{
    bench_clear(bench);
    bench_replay(bench);
    bench_check_blocks(bench);
    uint64_t start = now_ns();
    if (at_once) {
        peer_drop(bench->peer);
    } else {
        bench_free_blocks(bench);
    }
    return now_ns() - start;
}

/* Steady state: a worker whose every request is like this one. */
static void measure_fill(struct bench *bench, bool at_once, const char *name)
{
    uint64_t times[FILL_ROUNDS];
    for (size_t round = 0; round < FILL_WARM_ROUNDS; round++) {
        fill_round(bench, at_once);
    }
    for (size_t round = 0; round < FILL_ROUNDS; round++) {
        times[round] = fill_round(bench, at_once);
    }
    printf("%s %.1f\n", name, median(times, FILL_ROUNDS) / NS_PER_US);
}

/* The first heavy request of the process, and small ones after it. */
static void measure_first(struct bench *heavy, struct bench *small)
{
    bench_clear(heavy);
    int64_t start = rss_kib();
    bench_replay(heavy);
    printf("rss-full %" PRId64 "\n", rss_kib() - start);
    uint64_t ending = now_ns();
    bench_end_request(heavy);
    printf("end-cold %.1f\n", (double)(now_ns() - ending) / NS_PER_US);
    printf("rss-after %" PRId64 "\n", rss_kib() - start);
    for (size_t request = 0; request < LATER_REQUESTS; request++) {
        bench_clear(small);
        bench_replay(small);
        bench_end_request(small);
    }
    printf("rss-later %" PRId64 "\n", rss_kib() - start);
}

static void measure_end(struct peer *peer)
{
    struct bench heavy = {.peer = peer};
    struct bench small = {.peer = peer};
    bench_init_blocks(&heavy, trace_init_fill(&heavy.trace, FILL_BYTES));
    bench_init_blocks(
        &small, trace_init_request(&small.trace, SMALL_ALLOCATIONS, SMALL_PERCENT));
    measure_first(&heavy, &small);
    if (PEER_DROPS) {
        measure_fill(&heavy, true, "drop");
    }
    if (PEER_FREES) {
        measure_fill(&heavy, false, "free");
    }
    bench_release(&small);
    bench_release(&heavy);
}

int main(int count, char **arguments)
{
    struct peer peer;
    const char *metric = count == 2 ? arguments[1] : "";
    if (!peer_open(&peer)) {
        die("opening the peer");
    }
    if (strcmp(metric, "op-10") == 0) {
        measure_requests(&peer, 10);
    } else if (strcmp(metric, "op-50") == 0) {
        measure_requests(&peer, 50);
    } else if (strcmp(metric, "op-90") == 0) {
        measure_requests(&peer, 90);
    } else if (strcmp(metric, "end") == 0) {
        measure_end(&peer);
    } else {
        fprintf(stderr, "usage: %s op-10 | op-50 | op-90 | end\n", arguments[0]);
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
