/*
 * glibc's obstack: a stack of objects on chunks from malloc. Single objects cannot be
 * freed (only all which came after one), so peer_free does nothing.
 */
#ifndef STRATA_ALLOC_BENCH_PEERS_OBSTACK_PEER_H
#define STRATA_ALLOC_BENCH_PEERS_OBSTACK_PEER_H

#include <obstack.h>
#include <stdbool.h>
#include <stdlib.h>

enum { PEER_FREES = 0, PEER_DROPS = 1, PEER_CHUNK_BYTES = 65536 };

#define obstack_chunk_alloc malloc
#define obstack_chunk_free free

struct peer {
    struct obstack stack;
    void *first;
};

static inline bool peer_open(struct peer *peer)
{
    obstack_begin(&peer->stack, PEER_CHUNK_BYTES);
    peer->first = obstack_alloc(&peer->stack, 1);
    return peer->first != NULL;
}

static inline void *peer_alloc(struct peer *peer, size_t bytes)
{
    return obstack_alloc(&peer->stack, bytes);
}

static inline void peer_free(struct peer *peer, void *block)
{
    (void)peer;
    (void)block;
}

static inline void peer_drop(struct peer *peer)
{
    obstack_free(&peer->stack, peer->first);
    peer->first = obstack_alloc(&peer->stack, 1);
}

#endif
