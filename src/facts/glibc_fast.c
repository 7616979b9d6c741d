/*
 * glibc_fast.c - the set of the chunks of an arena that are in fast bins.
 *
 * A chunk in a fast bin keeps its in-use mark, so that its neighbours do not merge with
 * it; only the list tells. malloc_trim() merges them first (malloc_consolidate()), so the
 * walker must know each one. There may be millions: one bit for each place where a chunk may
 * begin, in pieces of a megabyte of heap that are found by hash. glibc_fast_sweep.c fills it.
 */
#include "facts/glibc_fast.h"

#include <errno.h>
#include <stdlib.h>

enum { WORD_BITS = 64 };

int glibc_fast_init(struct glibc_fast_set *set)
{
    *set = (struct glibc_fast_set){0};
    set->slots = calloc(GLIBC_FAST_SLOTS, sizeof(struct glibc_fast_piece *));
    set->pieces = calloc(GLIBC_FAST_PIECES, sizeof(struct glibc_fast_piece *));
    return set->slots == NULL || set->pieces == NULL ? -ENOMEM : 0;
}

void glibc_fast_release(struct glibc_fast_set *set)
{
    for (size_t i = 0; i < set->piece_capacity; i++) {
        free(set->pieces[i]);
    }
    free(set->pieces);
    free(set->slots);
    *set = (struct glibc_fast_set){0};
}

void glibc_fast_reset(struct glibc_fast_set *set)
{
    if (set->piece_count > 0) {
        memset(set->slots, 0, GLIBC_FAST_SLOTS * sizeof(struct glibc_fast_piece *));
    }
    set->piece_count = 0;
    set->count = 0;
    set->bytes = 0;
}

/* The slot of the piece with number, or the free one where it would be. */
static struct glibc_fast_piece **slot_of(
    const struct glibc_fast_set *set, uint64_t number)
{
    size_t slot = number % GLIBC_FAST_SLOTS;

    while (set->slots[slot] != NULL && set->slots[slot]->number != number) {
        slot = (slot + 1) % GLIBC_FAST_SLOTS;
    }
    return &set->slots[slot];
}

/* A cleared piece for number; NULL: no memory. */
static struct glibc_fast_piece *add_piece(
    struct glibc_fast_set *set, struct glibc_fast_piece **slot, uint64_t number)
{
    struct glibc_fast_piece *piece;

    if (set->piece_count == set->piece_capacity) {
        piece = malloc(sizeof(*piece));
        if (piece == NULL) {
            return NULL;
        }
        set->pieces[set->piece_capacity++] = piece;
    }
    piece = set->pieces[set->piece_count++];
    memset(piece, 0, sizeof(*piece));
    piece->number = number;
    *slot = piece;
    return piece;
}

int glibc_fast_add(struct glibc_fast_set *set, uint64_t address, uint64_t bytes)
{
    const uint64_t number = address / GLIBC_FAST_PIECE_BYTES;
    const uint64_t place = address % GLIBC_FAST_PIECE_BYTES / GLIBC_CHUNK_ALIGN;
    const uint64_t bit = UINT64_C(1) << place % WORD_BITS;
    struct glibc_fast_piece **slot = slot_of(set, number);
    struct glibc_fast_piece *piece = *slot;

    if (piece == NULL) {
        if (set->piece_count == GLIBC_FAST_PIECES) {
            return -EBUSY;
        }
        piece = add_piece(set, slot, number);
        if (piece == NULL) {
            return -ENOMEM;
        }
    }
    if ((piece->bits[place / WORD_BITS] & bit) != 0) {
        return -EEXIST;
    }
    piece->bits[place / WORD_BITS] |= bit;
    set->count++;
    set->bytes += bytes;
    return 0;
}

bool glibc_fast_has(const struct glibc_fast_set *set, uint64_t address)
{
    const uint64_t place = address % GLIBC_FAST_PIECE_BYTES / GLIBC_CHUNK_ALIGN;
    const struct glibc_fast_piece *piece =
        *slot_of(set, address / GLIBC_FAST_PIECE_BYTES);

    return piece != NULL &&
           (piece->bits[place / WORD_BITS] >> place % WORD_BITS & 1) != 0;
}

/* The first set place of the piece from place on; past its end when there is none. */
static uint64_t next_place(const struct glibc_fast_piece *piece, uint64_t place)
{
    uint64_t word = place / WORD_BITS;
    uint64_t bits = piece->bits[word] >> place % WORD_BITS << place % WORD_BITS;

    while (bits == 0 && ++word < GLIBC_FAST_WORDS) {
        bits = piece->bits[word];
    }
    return bits == 0 ? GLIBC_FAST_WORDS * WORD_BITS
                     : word * WORD_BITS + (uint64_t)__builtin_ctzll(bits);
}

uint64_t glibc_fast_next(
    const struct glibc_fast_set *set, uint64_t address, uint64_t limit)
{
    const uint64_t places = (uint64_t)GLIBC_FAST_WORDS * WORD_BITS;

    if (set->count == 0) {
        return limit;
    }
    while (address < limit) {
        const uint64_t number = address / GLIBC_FAST_PIECE_BYTES;
        const struct glibc_fast_piece *piece = *slot_of(set, number);
        if (piece != NULL) {
            const uint64_t place =
                next_place(piece, address % GLIBC_FAST_PIECE_BYTES / GLIBC_CHUNK_ALIGN);
            if (place < places) {
                address = number * GLIBC_FAST_PIECE_BYTES + place * GLIBC_CHUNK_ALIGN;
                return address < limit ? address : limit;
            }
        }
        address = (number + 1) * GLIBC_FAST_PIECE_BYTES;
    }
    return limit;
}
