/*
 * glibc_tcache.c - finds the tcache of each thread.
 *
 * A thread keeps freed blocks in struct tcache_perthread_struct, which is itself a chunk of
 * the thread's arena with a size of its own. Nothing lists these structs; the walk gives the
 * chunks of that size. One is a cache when every counter is within the limit, is zero exactly
 * where the list is empty, and the first block of each list has the size of its bin (tcache in
 * malloc/malloc.c). From 2.42 counters tell free places instead of blocks, and twelve more
 * bins hold blocks of mixed sizes.
 *
 * A cache belongs to its thread alone and changes without any lock, so on a busy target the
 * sums are of a moment and may be torn; the lists are short and every step is checked.
 */
#include "facts/glibc_tcache.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/glibc_fast.h"

enum { SIZE_BELOW_USER = 8 };

/* Where an arena is in the facts, to find it by address. */
struct arena_place {
    uint64_t address;
    size_t index;
};

struct tcache_sums {
    struct arena_place *places;
    size_t place_count;
    uint64_t caches;
    uint64_t bytes;
};

static int compare_places(const void *left, const void *right)
{
    const struct arena_place *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static struct glibc_arena *find_arena(
    struct glibc_reader *reader, const struct tcache_sums *sums, uint64_t address)
{
    const struct arena_place key = {.address = address};
    const struct arena_place *place =
        bsearch(&key, sums->places, sums->place_count, sizeof(key), compare_places);

    return place == NULL ? NULL : &reader->process->glibc.arenas[place->index];
}

/* The arena that owns the chunk whose size word is header. */
static struct glibc_arena *owner_of(struct glibc_reader *reader,
    const struct tcache_sums *sums, uint64_t user, uint64_t header)
{
    uint64_t owner = reader->main_arena;

    if ((header & GLIBC_NON_MAIN_ARENA) != 0 &&
        page_cache_word(
            &reader->cache, glibc_align_down(user, reader->heap_bytes), &owner) < 0) {
        return NULL;
    }
    return find_arena(reader, sums, owner);
}

static uint64_t counter_of(const struct glibc_tcache_layout *layout, const uint8_t *data,
    uint32_t bin, uint64_t limit)
{
    const uint64_t stored = layout->count_bytes == 1
                                ? data[bin]
                                : data[bin * 2] + ((uint64_t)data[bin * 2 + 1] << 8);

    if (!layout->counts_down) {
        return stored;
    }
    /* More free places than there are: no counter; say so with an impossible count. */
    return stored <= limit ? limit - stored : UINT64_MAX;
}

static bool is_size_of_bin(uint64_t size, uint32_t bin)
{
    if (bin < GLIBC_TCACHE_SMALL_BINS) {
        return size == GLIBC_CHUNK_MINIMUM_BYTES + (uint64_t)bin * GLIBC_CHUNK_ALIGN;
    }
    return size > GLIBC_CHUNK_MINIMUM_BYTES +
                      (uint64_t)GLIBC_TCACHE_SMALL_BINS * GLIBC_CHUNK_ALIGN - 1 &&
           size <= glibc_maximum_bytes;
}

/* The lists of one cache, side by side: each is at one block. */
struct lists {
    uint64_t
        user[GLIBC_TCACHE_MAXIMUM_BINS]; /* where the block's memory begins; 0: ended */
    uint64_t count[GLIBC_TCACHE_MAXIMUM_BINS]; /* blocks from this one on */
    uint64_t header[GLIBC_TCACHE_MAXIMUM_BINS];
    uint64_t link[GLIBC_TCACHE_MAXIMUM_BINS];
};

/*
 * Reads the header and the link of each block; a list whose block is none of its bin ends. All at
 * once, since lists lead to and fro and what counts is the call. 0, or -errno.
 */
static int read_blocks(struct glibc_reader *reader, struct lists *lists)
{
    uint64_t addresses[GLIBC_TCACHE_MAXIMUM_BINS];
    uint32_t bins[GLIBC_TCACHE_MAXIMUM_BINS];
    uint8_t data[GLIBC_TCACHE_MAXIMUM_BINS][2 * sizeof(uint64_t)];
    bool was_read[GLIBC_TCACHE_MAXIMUM_BINS];
    size_t count = 0;

    for (uint32_t bin = 0; bin < reader->layout->tcache.bins; bin++) {
        const uint64_t user = lists->user[bin];
        lists->user[bin] = 0;
        if (user != 0 && user % GLIBC_CHUNK_ALIGN == 0 &&
            user >= GLIBC_CHUNK_HEADER_BYTES && reader->blocks_left > 0) {
            reader->blocks_left--;
            bins[count] = bin;
            addresses[count++] = user - SIZE_BELOW_USER;
        }
    }
    if (count == 0) {
        return 0;
    }
    int result = memory_read_scattered(
        reader->memory, addresses, count, sizeof(data[0]), data[0], was_read);
    for (size_t i = 0; result == 0 && i < count; i++) {
        const uint32_t bin = bins[i];
        lists->header[bin] = glibc_word(data[i]);
        lists->link[bin] = glibc_word(data[i] + SIZE_BELOW_USER);
        if (was_read[i] &&
            is_size_of_bin(lists->header[bin] & ~(uint64_t)GLIBC_SIZE_BITS, bin)) {
            lists->user[bin] = addresses[i] + SIZE_BELOW_USER;
        }
    }
    return result;
}

/* data is a copy of the struct: may it be one? Then lists are at their first blocks. */
static bool take_heads(
    const struct glibc_reader *reader, const uint8_t *data, struct lists *lists)
{
    const struct glibc_tcache_layout *layout = &reader->layout->tcache;

    for (uint32_t bin = 0; bin < layout->bins; bin++) {
        lists->count[bin] = counter_of(layout, data, bin, reader->tcache_limit);
        lists->user[bin] = glibc_word(data + layout->entries + bin * sizeof(uint64_t));
        if (lists->count[bin] > reader->tcache_limit ||
            (lists->count[bin] == 0) != (lists->user[bin] == 0)) {
            return false;
        }
    }
    return reader->tcache_limit > 0;
}

/* All the first blocks were read and have the sizes of their bins. */
static bool is_tcache(const struct glibc_reader *reader, const struct lists *lists)
{
    const struct glibc_tcache_layout *layout = &reader->layout->tcache;
    bool any = layout->counts_down; /* counters that are not zero are proof enough */

    for (uint32_t bin = 0; bin < layout->bins; bin++) {
        if (lists->count[bin] != 0 && lists->user[bin] == 0) {
            return false;
        }
        any = any || lists->user[bin] != 0;
    }
    return any;
}

/* Adds the block of each list to the arena that owns it, and goes on to the next one. */
static bool add_blocks(
    struct glibc_reader *reader, struct tcache_sums *sums, struct lists *lists)
{
    bool any = false;

    for (uint32_t bin = 0; bin < reader->layout->tcache.bins; bin++) {
        const uint64_t user = lists->user[bin];
        const uint64_t size = lists->header[bin] & ~(uint64_t)GLIBC_SIZE_BITS;
        if (user == 0) {
            continue;
        }
        struct glibc_arena *arena = owner_of(reader, sums, user, lists->header[bin]);
        sums->bytes += size;
        if (arena != NULL) {
            arena->cached_bytes += size;
            arena->cached_chunks++;
        }
        lists->count[bin]--;
        lists->user[bin] = lists->count[bin] == 0
                               ? 0
                               : glibc_plain_link(reader->layout, user, lists->link[bin]);
        any = any || lists->user[bin] != 0;
    }
    return any;
}

static int read_candidate(
    struct glibc_reader *reader, uint64_t chunk, struct tcache_sums *sums)
{
    const struct glibc_tcache_layout *layout = &reader->layout->tcache;
    uint8_t data[GLIBC_TCACHE_MAXIMUM_BYTES];
    struct lists lists = {.user = {0}};
    int result = memory_read_present(reader->memory, chunk + GLIBC_CHUNK_HEADER_BYTES,
        data, layout->entries + layout->bins * sizeof(uint64_t));

    if (result < 0) {
        return result == -EFAULT || result == -ENODATA ? 0 : result;
    }
    if (!take_heads(reader, data, &lists)) {
        return 0;
    }
    result = read_blocks(reader, &lists);
    if (result < 0 || !is_tcache(reader, &lists)) {
        return result;
    }
    sums->caches++;
    while (result == 0 && add_blocks(reader, sums, &lists)) {
        result = read_blocks(reader, &lists); /* one that is torn ends: its thread runs */
    }
    return result;
}

static bool is_any_stale(const struct glibc_facts *facts)
{
    for (size_t i = 0; i < facts->arena_count; i++) {
        if (facts->arenas[i].state != FACT_OK) {
            return true;
        }
    }
    return false;
}

int glibc_tcache_read(struct glibc_reader *reader)
{
    struct glibc_facts *facts = &reader->process->glibc;
    struct tcache_sums sums = {.place_count = facts->arena_count};
    int result = 0;

    sums.places = malloc((facts->arena_count + 1) * sizeof(*sums.places));
    if (sums.places == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < facts->arena_count; i++) {
        sums.places[i] = (struct arena_place){facts->arenas[i].address, i};
    }
    qsort(sums.places, sums.place_count, sizeof(*sums.places), compare_places);
    page_cache_reset(&reader->cache);
    for (size_t i = 0; i < reader->tcache_count && result == 0; i++) {
        result = read_candidate(reader, reader->tcaches[i], &sums);
    }
    free(sums.places);
    if (result == 0) {
        const bool stale = is_any_stale(facts);
        const uint32_t state = stale ? FACT_STALE : FACT_OK;
        facts->tcaches = (struct fact){sums.caches, stale ? sums.caches : 0, state};
        facts->tcache_bytes = (struct fact){sums.bytes, stale ? sums.bytes : 0, state};
    }
    return result;
}
