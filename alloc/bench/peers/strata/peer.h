/*
 * Request heaps of this library; PEER_LAYOUT is the layout.
 */
#ifndef STRATA_ALLOC_BENCH_PEERS_STRATA_PEER_H
#define STRATA_ALLOC_BENCH_PEERS_STRATA_PEER_H

#include <stdbool.h>
#include <strata/heap.h>

enum { PEER_FREES = 1, PEER_DROPS = 1 };

struct peer {
    struct strata_heap *heap;
};

static inline bool peer_open(struct peer *peer)
{
    struct strata_heap_options options = {
        .struct_bytes = sizeof(options), .layout = PEER_LAYOUT, .name = "bench"};
    peer->heap = strata_heap_new(&options);
    return peer->heap != NULL;
}

static inline void *peer_alloc(struct peer *peer, size_t bytes)
{
    return strata_alloc(peer->heap, bytes);
}

static inline void peer_free(struct peer *peer, void *block)
{
    strata_free(peer->heap, block);
}

static inline void peer_drop(struct peer *peer)
{
    strata_heap_end_request(peer->heap);
}

#endif
