/* glibc_fast.h - the fast bins of an arena: free chunks that still look like in use. */
#ifndef STRATA_FACTS_GLIBC_FAST_H
#define STRATA_FACTS_GLIBC_FAST_H

#include "facts/glibc_reader.h"

enum {
    GLIBC_FAST_PIECE_BYTES = 1 << 20, /* of heap that one piece of the set covers */
    GLIBC_FAST_PIECES = 2048,         /* 16 MiB of our own at most */
    GLIBC_FAST_SLOTS = 2 * GLIBC_FAST_PIECES,
    GLIBC_FAST_WORDS = GLIBC_FAST_PIECE_BYTES / GLIBC_CHUNK_ALIGN / 64,
};

struct glibc_fast_piece {
    uint64_t number;                 /* address / GLIBC_FAST_PIECE_BYTES */
    uint64_t bits[GLIBC_FAST_WORDS]; /* one for each place that may hold a chunk */
};

/* The set of the addresses of all chunks in fast bins of one arena. */
struct glibc_fast_set {
    struct glibc_fast_piece **slots; /* GLIBC_FAST_SLOTS, by hash of the number */
    struct glibc_fast_piece **pieces;
    size_t piece_count; /* in use; the rest of pieces is kept for later */
    size_t piece_capacity;
    uint64_t count;
    uint64_t bytes;
};

/* 0 or -ENOMEM; release after either. */
int glibc_fast_init(struct glibc_fast_set *set);
void glibc_fast_release(struct glibc_fast_set *set);

/* Forgets all chunks. */
void glibc_fast_reset(struct glibc_fast_set *set);

/*
 * Adds the chunk at address, a multiple of GLIBC_CHUNK_ALIGN. 0; -EEXIST for one that is in the
 * set; -EBUSY when the set covers all the memory that it may; -ENOMEM.
 */
int glibc_fast_add(struct glibc_fast_set *set, uint64_t address, uint64_t bytes);

bool glibc_fast_has(const struct glibc_fast_set *set, uint64_t address);

/* The lowest address of the set in [address, limit); limit when there is none. */
uint64_t glibc_fast_next(
    const struct glibc_fast_set *set, uint64_t address, uint64_t limit);

/* A next pointer of a fast bin or a tcache as stored at address, made plain. */
static inline uint64_t glibc_plain_link(
    const struct glibc_layout *layout, uint64_t address, uint64_t stored)
{
    enum { MANGLE_SHIFT = 12 }; /* PROTECT_PTR, malloc/malloc.c */

    return layout->mangled_links ? stored ^ (address >> MANGLE_SHIFT) : stored;
}

#endif
