/*
 * ZEND chunks: 2 MiB each, the first page is the header. A chunk set keeps the ring of
 * chunks in use (the main chunk never leaves it), the list of cached ones, and the rules
 * by which chunks go back. Function by function as Zend MM 8.0-8.3 does it, since `real`
 * is 2 MiB for each chunk in the ring or the cache.
 */
#ifndef STRATA_CHUNK_H
#define STRATA_CHUNK_H

#include <stddef.h>
#include <stdint.h>

#include "sizeclass.h"

#define STRATA__MAP_WORDS (STRATA__CHUNK_PAGES / 64)
#define STRATA__CHUNK_FREE_PAGES ((uint32_t)STRATA__CHUNK_PAGES - 1)
#define STRATA__KNOWN_CHUNKS 1024

struct strata__free_run {
    uint32_t first;
    uint32_t pages;
};

/* The header, in page 0. A word of `map` is the page class, and above it: for a large
 * run its length in pages; during gc and walks, for a small run its free blocks. All
 * pages which do not begin a run and are not part of a small run have the word 0. */
struct strata__chunk {
    struct strata__chunk *next; /* ring; in the cache: next cached or NULL */
    struct strata__chunk *prev;
    uint32_t free_pages;
    uint32_t free_tail; /* from here on all pages are free, as far as is known */
    uint32_t number;    /* grows by purchase; decides which chunk a delete gives back */
    struct strata__free_run longest;       /* a longest one, as the set has counted it */
    uint64_t used_bits[STRATA__MAP_WORDS]; /* bit i: page i is in use */
    uint32_t map[STRATA__CHUNK_PAGES];
};

struct strata__chunk_set {
    struct strata__chunk *main;
    struct strata__chunk *cached;
    uint32_t count; /* in the ring */
    uint32_t peak_count;
    uint32_t cached_count;
    uint32_t delete_boundary; /* `count` at the last delete with an empty cache ... */
    uint32_t delete_count;    /* ... and how often in a row it was the same */
    double average;
    uint64_t purchases;
    uint32_t free_pages; /* of all chunks in the ring */
    /* longest_chunks[i]: chunks of the ring whose longest free run has i pages; bit i of
     * longest_bits: there is one. */
    uint64_t longest_bits[STRATA__MAP_WORDS];
    uint32_t longest_chunks[STRATA__CHUNK_PAGES];
    /* Direct-mapped by chunk number: chunks of the ring, as far as no other took the
     * place. Lets the fast path tell a chunk of ours without touching it. */
    uintptr_t known[STRATA__KNOWN_CHUNKS];
};

static inline uintptr_t strata__chunk_base(const void *address)
{
    return (uintptr_t)address & ~(STRATA__CHUNK_BYTES - 1);
}

static inline uintptr_t *strata__chunk_known(
    struct strata__chunk_set *set, uintptr_t base)
{
    return &set->known[(base >> STRATA__CHUNK_BITS) % STRATA__KNOWN_CHUNKS];
}

/* The map word of the page which holds an address in a chunk. */
static inline const uint32_t *strata__chunk_word(const void *address)
{
    const struct strata__chunk *chunk =
        (const struct strata__chunk *)strata__chunk_base(address);
    return &chunk->map[(uintptr_t)address >> STRATA__PAGE_BITS &
                       (STRATA__CHUNK_PAGES - 1)];
}

static inline void *strata__chunk_page(struct strata__chunk *chunk, uint32_t page)
{
    return (char *)chunk + ((size_t)page << STRATA__PAGE_BITS);
}

/* Maps the main chunk. 0 or -ENOMEM. */
int strata__chunk_set_init(struct strata__chunk_set *set);
/* Unmaps every chunk. */
void strata__chunk_set_release(struct strata__chunk_set *set);
/* A cached chunk, now the youngest of the ring; NULL if none is cached. */
struct strata__chunk *strata__chunk_reuse(struct strata__chunk_set *set);
/* A chunk from the system, now the youngest of the ring; NULL if there is none. */
struct strata__chunk *strata__chunk_buy(struct strata__chunk_set *set);
/* Takes an empty chunk (one free run, as set_run was told) out of the ring, into the cache or back to the system; returns how
 * many bytes the set shrank by. Not for the main chunk. */
size_t strata__chunk_delete(struct strata__chunk_set *set, struct strata__chunk *chunk);
/* This run is a longest free one of this chunk of the ring from now on. */
void strata__chunk_set_run(struct strata__chunk_set *set, struct strata__chunk *chunk,
    struct strata__free_run run);
/* Pages of the longest free run in the ring. */
uint32_t strata__chunk_set_longest(const struct strata__chunk_set *set);
/* Moves a chunk to the place behind the main chunk. */
void strata__chunk_to_front(struct strata__chunk_set *set, struct strata__chunk *chunk);
/* End of request: all chunks but the main one into the cache, which is then trimmed to
 * the halving average of the peaks. Returns the bytes which the set still holds. */
size_t strata__chunk_set_restart(struct strata__chunk_set *set);
/* Unmaps one cached chunk; 0 if there was none, else its size. */
size_t strata__chunk_drop_cached(struct strata__chunk_set *set);
/* The ring's chunk which contains the address, or NULL. Touches no foreign memory. */
struct strata__chunk *strata__chunk_find(
    struct strata__chunk_set *set, const void *address);

#endif
