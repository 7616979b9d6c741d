/*
 * An arena of jemalloc, without a thread cache or (PEER_TCACHE 1) with one of its own.
 * What a cache holds belongs to the arena, so it is flushed before the arena is reset.
 */
#ifndef STRATA_ALLOC_BENCH_PEERS_JEMALLOC_PEER_H
#define STRATA_ALLOC_BENCH_PEERS_JEMALLOC_PEER_H

#include <jemalloc/jemalloc.h>
#include <stdbool.h>
#include <stdio.h>

enum { PEER_FREES = 1, PEER_DROPS = 1, PEER_NAME_BYTES = 64 };

struct peer {
    unsigned arena;
    unsigned cache;
    int flags;
};

static inline bool peer_open(struct peer *peer)
{
    size_t bytes = sizeof(peer->arena);
    if (mallctl("arenas.create", &peer->arena, &bytes, NULL, 0) != 0) {
        return false;
    }
    peer->flags = (int)MALLOCX_ARENA(peer->arena) | MALLOCX_TCACHE_NONE;
    if (PEER_TCACHE) {
        if (mallctl("tcache.create", &peer->cache, &bytes, NULL, 0) != 0) {
            return false;
        }
        peer->flags = (int)MALLOCX_ARENA(peer->arena) | (int)MALLOCX_TCACHE(peer->cache);
    }
    return true;
}

static inline void *peer_alloc(struct peer *peer, size_t bytes)
{
    return mallocx(bytes, peer->flags);
}

static inline void peer_free(struct peer *peer, void *block)
{
    dallocx(block, peer->flags);
}

static inline void peer_drop(struct peer *peer)
{
    char name[PEER_NAME_BYTES];
    if (PEER_TCACHE) {
        mallctl("tcache.flush", NULL, NULL, &peer->cache, sizeof(peer->cache));
    }
    snprintf(name, sizeof(name), "arena.%u.reset", peer->arena);
    mallctl(name, NULL, NULL, NULL, 0);
}

#endif
