/*
 * glibc_fast.c - follows the fast bins of an arena.
 *
 * A chunk in a fast bin keeps its in-use mark, so that its neighbours do not merge with
 * it; only the list tells. malloc_trim() merges them first (malloc_consolidate()), so the
 * walker must know each one. Links are single, last in first out, and mangled from 2.32 on.
 */
#include "facts/glibc_fast.h"

#include <errno.h>
#include <stdlib.h>

enum { LINK_OFFSET = GLIBC_CHUNK_HEADER_BYTES, SIZE_OFFSET = 8, WORD_BITS = 64 };

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

static void reset(struct glibc_fast_set *set)
{
    if (set->piece_count > 0) {
        memset(set->slots, 0, GLIBC_FAST_SLOTS * sizeof(struct glibc_fast_piece *));
    }
    set->piece_count = 0;
    set->count = 0;
    set->bytes = 0;
    set->torn = false;
    set->cut = false;
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

/* A cleared piece for number; NULL: no memory, or the set is full (cut). */
static struct glibc_fast_piece *add_piece(
    struct glibc_fast_set *set, struct glibc_fast_piece **slot, uint64_t number)
{
    struct glibc_fast_piece *piece;

    if (set->piece_count == GLIBC_FAST_PIECES) {
        set->cut = true;
        return NULL;
    }
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

static int add(struct glibc_fast_set *set, uint64_t address, uint64_t bytes)
{
    const uint64_t number = address / GLIBC_FAST_PIECE_BYTES;
    const uint64_t place = address % GLIBC_FAST_PIECE_BYTES / GLIBC_CHUNK_ALIGN;
    const uint64_t bit = UINT64_C(1) << place % WORD_BITS;
    struct glibc_fast_piece **slot = slot_of(set, number);
    struct glibc_fast_piece *piece = *slot;

    if (piece == NULL) {
        piece = add_piece(set, slot, number);
        if (piece == NULL) {
            return set->cut ? 0 : -ENOMEM;
        }
    }
    if ((piece->bits[place / WORD_BITS] & bit) != 0) {
        set->torn = true; /* a ring, or two lists that share a chunk */
        return 0;
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

/* Errors that say something of the list, not of our access to the target. */
static bool is_torn(int result)
{
    return result == -EFAULT || result == -ENODATA;
}

/* The size and the next chunk of the chunk at address. */
static int read_chunk(
    struct glibc_reader *reader, uint64_t address, uint64_t *bytes, uint64_t *next)
{
    uint64_t header = 0, link = 0;
    int result = address % GLIBC_CHUNK_ALIGN != 0
                     ? -EFAULT
                     : page_cache_word(&reader->cache, address + SIZE_OFFSET, &header);

    if (result == 0) {
        result = page_cache_word(&reader->cache, address + LINK_OFFSET, &link);
    }
    *bytes = header & ~(uint64_t)GLIBC_SIZE_BITS;
    *next = glibc_plain_link(reader->layout, address + LINK_OFFSET, link);
    return result;
}

static int follow(struct glibc_reader *reader, uint64_t chunk, uint64_t chunk_bytes,
    struct glibc_fast_set *set)
{
    while (chunk != 0 && !set->torn && !set->cut) {
        uint64_t bytes, next;
        int result =
            reader->links_left == 0 ? -EBUSY : read_chunk(reader, chunk, &bytes, &next);
        if (result == -EBUSY) {
            set->cut = true;
            return 0;
        }
        if (is_torn(result) || (result == 0 && bytes != chunk_bytes)) {
            set->torn = true;
            return 0;
        }
        if (result == 0) {
            result = add(set, chunk, chunk_bytes);
        }
        if (result < 0) {
            return result;
        }
        reader->links_left--;
        chunk = next;
    }
    return 0;
}

int glibc_fast_read(
    struct glibc_reader *reader, const uint8_t *state, struct glibc_fast_set *set)
{
    const uint32_t heads = reader->layout->state.fast_bins;

    reset(set);
    if (heads == 0) {
        return 0;
    }
    page_cache_reset(&reader->cache);
    for (uint32_t bin = 0; bin < GLIBC_FAST_BIN_COUNT; bin++) {
        const uint64_t chunk = glibc_word(state + heads + bin * sizeof(uint64_t));
        int result = follow(
            reader, chunk, GLIBC_CHUNK_MINIMUM_BYTES + bin * GLIBC_CHUNK_ALIGN, set);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}
