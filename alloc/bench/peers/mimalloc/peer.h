/*
 * mimalloc's first-class heaps (mi_heap_new, mi_heap_malloc, mi_free, mi_heap_destroy).
 */
#ifndef STRATA_ALLOC_BENCH_PEERS_MIMALLOC_PEER_H
#define STRATA_ALLOC_BENCH_PEERS_MIMALLOC_PEER_H

#include <mimalloc.h>
#include <stdbool.h>

enum { PEER_FREES = 1, PEER_DROPS = 1 };

struct peer {
    mi_heap_t *heap;
};

static inline bool peer_open(struct peer *peer)
{
    peer->heap = mi_heap_new();
    return peer->heap != NULL;
}

static inline void *peer_alloc(struct peer *peer, size_t bytes)
{
    return mi_heap_malloc(peer->heap, bytes);
}

static inline void peer_free(struct peer *peer, void *block)
{
    (void)peer;
    mi_free(block);
}

static inline void peer_drop(struct peer *peer)
{
    mi_heap_destroy(peer->heap);
    peer->heap = mi_heap_new();
}

#endif
