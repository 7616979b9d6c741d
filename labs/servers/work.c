/*
 * work.c - square roots, blocks, a body.
 *
 * The blocks are written to, so they are resident. Which request of "mix" is heavy is
 * drawn by a generator of its own for each process, seeded by its pid.
 */
#include "work.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { ROOTS = 1000, QUERY_BYTES = 256 << 10, HEAVY_ONE_IN = 100, HEAVY_WAIT_MS = 1000 };

static const size_t heap_limit_bytes = 256 << 20;

struct strata_heap *work_heap(void)
{
    const struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .layout = STRATA_LAYOUT_ZEND,
        .limit_bytes = heap_limit_bytes,
        .name = "request"};

    return strata_heap_new(&options);
}

static int take_blocks(struct work *work, size_t bytes)
{
    for (size_t taken = 0; taken < bytes; taken += WORK_BLOCK_BYTES) {
        void **block = strata_alloc(work->heap, WORK_BLOCK_BYTES);
        if (block == NULL) {
            return -1;
        }
        memset(block, 1, WORK_BLOCK_BYTES);
        *block = work->blocks;
        work->blocks = block;
    }
    return 0;
}

static int set_body(struct work *work, const char *text)
{
    work->body_bytes = strlen(text);
    work->body = strata_alloc(work->heap, work->body_bytes + 1);
    if (work->body == NULL) {
        return -1;
    }
    memcpy(work->body, text, work->body_bytes + 1);
    return 0;
}

static int set_large_body(struct work *work)
{
    work->body_bytes = WORK_LARGE_BYTES;
    work->body = strata_alloc(work->heap, work->body_bytes);
    if (work->body == NULL) {
        return -1;
    }
    memset(work->body, 'x', work->body_bytes);
    return 0;
}

static int query(struct work *work)
{
    char text[WORK_PAGE_BYTES];
    double sum = 0;

    for (int i = 1; i <= ROOTS; i++) {
        volatile double root = sqrt((double)i);
        sum += root;
    }
    (void)snprintf(text, sizeof(text), "query %.3f\n", sum);
    return take_blocks(work, QUERY_BYTES) == 0 ? set_body(work, text) : -1;
}

static int heavy(struct work *work)
{
    work->wait_ms = HEAVY_WAIT_MS;
    return take_blocks(work, (size_t)WORK_LIGHT_BYTES * WORK_HEAVY_TIMES) == 0
               ? set_body(work, "mix ok\n")
               : -1;
}

static int mix(struct work *work)
{
    static uint64_t state;
    size_t bytes = WORK_LIGHT_BYTES;

    if (state == 0) {
        state = (uint64_t)getpid();
    }
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    if ((state >> 33) % HEAVY_ONE_IN == 0) {
        bytes *= WORK_HEAVY_TIMES;
    }
    return take_blocks(work, bytes) == 0 ? set_body(work, "mix ok\n") : -1;
}

int work_begin(
    struct work *work, struct strata_heap *heap, const char *page, unsigned wait_ms)
{
    *work = (struct work){.heap = heap};
    if (strcmp(page, "hello") == 0) {
        return set_body(work, "hello\n");
    }
    if (strcmp(page, "large") == 0) {
        return set_large_body(work);
    }
    work->wait_ms = wait_ms;
    if (strcmp(page, "query") == 0) {
        return query(work);
    }
    if (strcmp(page, "mix") == 0) {
        return mix(work);
    }
    work->wait_ms = 0;
    return strcmp(page, "heavy") == 0 ? heavy(work) : 0;
}

void work_end(struct work *work)
{
    while (work->blocks != NULL) {
        void **block = work->blocks;
        work->blocks = *block;
        strata_free(work->heap, block);
    }
    if (work->body != NULL) {
        strata_free(work->heap, work->body);
        work->body = NULL;
    }
}
