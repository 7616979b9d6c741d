/*
 * Plain malloc and free of glibc; a request ends block by block.
 */
#ifndef STRATA_ALLOC_BENCH_PEERS_GLIBC_PEER_H
#define STRATA_ALLOC_BENCH_PEERS_GLIBC_PEER_H

#include <stdbool.h>
#include <stdlib.h>

enum { PEER_FREES = 1, PEER_DROPS = 0 };

struct peer {
    char unused;
};

static inline bool peer_open(struct peer *peer)
{
    peer->unused = 0;
    return true;
}

static inline void *peer_alloc(struct peer *peer, size_t bytes)
{
    (void)peer;
    return malloc(bytes);
}

static inline void peer_free(struct peer *peer, void *block)
{
    (void)peer;
    free(block);
}

static inline void peer_drop(struct peer *peer)
{
    (void)peer;
}

#endif
