/* work.h - what a request does, the same in all three models, on a request heap. */
#ifndef STRATA_LABS_SERVERS_WORK_H
#define STRATA_LABS_SERVERS_WORK_H

#include <stddef.h>

#include <strata/heap.h>

enum {
    WORK_LARGE_BYTES = 1 << 20,
    WORK_LIGHT_BYTES = 1 << 20,
    WORK_HEAVY_TIMES = 20,
    WORK_BLOCK_BYTES = 400,
    WORK_PAGE_BYTES = 32,
};

/* One request being served. The blocks are a list through their first words. */
struct work {
    struct strata_heap *heap;
    void *blocks;
    char *body; /* of the heap, or NULL: unknown page */
    size_t body_bytes;
    unsigned wait_ms; /* how long the answer waits for its input, simulated */
};

/* The heap of one worker, PHP's layout. NULL when memory is short. */
struct strata_heap *work_heap(void);

/*
 * Does everything before the wait: 1,000 square roots and blocks of 256 KiB in all for
 * "query", blocks of 1 MiB and in one request of a hundred of 20 MiB for "mix", a body of 1 MiB for
 * "large". wait_ms is what "query" and "mix" are to wait. -1 when memory is short.
 */
int work_begin(
    struct work *work, struct strata_heap *heap, const char *page, unsigned wait_ms);

/* Frees what the request took, block by block: for workers that serve several at once. */
void work_end(struct work *work);

#endif
