/*
 * ZEND chunks: purchase, ring, cache, delete rule, the halving average.
 *
 * Invariants: the set holds (count + cached_count) * 2 MiB; the ring starts and ends at
 * the main chunk; numbers in the ring grow from each chunk's predecessor at the time it
 * was attached; known[] names chunks of the ring only.
 *
 * Sources (php-src 8.1.3, Zend/zend_alloc.c): zend_mm_chunk_init 619, zend_mm_alloc_pages
 * 822 (get_chunk), zend_mm_delete_chunk 1059, zend_mm_shutdown 2207.
 *
 * One thread at a time, as the heap.
 */
#include "chunk.h"

#include <errno.h>
#include <string.h>

#include "os.h"
#include "track.h"

/* From 8.0 on: a chunk is cached while the set stays below its average, or when the same
 * delete has come this often (a loop around a chunk border). */
#define DELETE_CACHE_AVERAGE 0.1
#define DELETE_CACHE_COUNT 4
#define RESTART_AVERAGE 0.9

_Static_assert(sizeof(struct strata__chunk) <= STRATA__PAGE_BYTES,
    "the chunk header has to fit in page 0");

static void count_run(struct strata__chunk_set *set, uint32_t pages)
{
    set->longest_chunks[pages]++;
    set->longest_bits[pages / 64] |= (uint64_t)1 << pages % 64;
}

static void discount_run(struct strata__chunk_set *set, uint32_t pages)
{
    set->longest_chunks[pages]--;
    if (set->longest_chunks[pages] == 0) {
        set->longest_bits[pages / 64] &= ~((uint64_t)1 << pages % 64);
    }
}

void strata__chunk_set_run(struct strata__chunk_set *set, struct strata__chunk *chunk,
    struct strata__free_run run)
{
    discount_run(set, chunk->longest.pages);
    count_run(set, run.pages);
    chunk->longest = run;
}

uint32_t strata__chunk_set_longest(const struct strata__chunk_set *set)
{
    uint32_t index = STRATA__MAP_WORDS - 1;
    while (index > 0 && set->longest_bits[index] == 0) {
        index--;
    }
    /* The ring is never empty: each chunk is counted, those without a free page too. */
    return index * 64 + 63 - (uint32_t)__builtin_clzll(set->longest_bits[index]);
}

static void clear_header(struct strata__chunk *chunk)
{
    chunk->free_pages = STRATA__CHUNK_FREE_PAGES;
    chunk->free_tail = 1;
    chunk->longest = (struct strata__free_run){1, STRATA__CHUNK_FREE_PAGES};
    memset(chunk->used_bits, 0, sizeof(chunk->used_bits));
    chunk->used_bits[0] = 1;
    memset(chunk->map, 0, sizeof(chunk->map));
}

static void start_ring(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->main;
    clear_header(chunk);
    chunk->next = chunk;
    chunk->prev = chunk;
    chunk->number = 0;
    set->count = 1;
    set->peak_count = 1;
    set->delete_boundary = 0;
    set->delete_count = 0;
    set->free_pages = STRATA__CHUNK_FREE_PAGES;
    memset(set->longest_bits, 0, sizeof(set->longest_bits));
    memset(set->longest_chunks, 0, sizeof(set->longest_chunks));
    count_run(set, chunk->longest.pages);
    *strata__chunk_known(set, (uintptr_t)chunk) = (uintptr_t)chunk;
}

static void attach(struct strata__chunk_set *set, struct strata__chunk *chunk)
{
    clear_header(chunk);
    chunk->next = set->main;
    chunk->prev = set->main->prev;
    chunk->prev->next = chunk;
    chunk->next->prev = chunk;
    chunk->number = chunk->prev->number + 1;
    set->count++;
    set->free_pages += STRATA__CHUNK_FREE_PAGES;
    count_run(set, chunk->longest.pages);
    if (set->count > set->peak_count) {
        set->peak_count = set->count;
    }
    *strata__chunk_known(set, (uintptr_t)chunk) = (uintptr_t)chunk;
}

static void forget(struct strata__chunk_set *set, const struct strata__chunk *chunk)
{
    uintptr_t *known = strata__chunk_known(set, (uintptr_t)chunk);
    if (*known == (uintptr_t)chunk) {
        *known = UINTPTR_MAX;
    }
}

/* The marks go first: the next owner of this address space must not meet them. */
static void unmap(struct strata__chunk *chunk)
{
    strata__track_open(chunk, STRATA__CHUNK_BYTES);
    strata__os->unmap(chunk, STRATA__CHUNK_BYTES);
}

int strata__chunk_set_init(struct strata__chunk_set *set)
{
    *set = (struct strata__chunk_set){.average = 1.0};
    /* No chunk has this number, so that the place for address 0 knows none either. */
    memset(set->known, 0xff, sizeof(set->known));
    set->main = strata__os->map(STRATA__CHUNK_BYTES, STRATA__CHUNK_BYTES);
    if (set->main == NULL) {
        return -ENOMEM;
    }
    set->purchases = 1;
    start_ring(set);
    return 0;
}

void strata__chunk_set_release(struct strata__chunk_set *set)
{
    while (strata__chunk_drop_cached(set) > 0) {
    }
    struct strata__chunk *chunk = set->main->next;
    while (chunk != set->main) {
        struct strata__chunk *next = chunk->next;
        unmap(chunk);
        chunk = next;
    }
    unmap(set->main);
    set->main = NULL;
}

struct strata__chunk *strata__chunk_reuse(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->cached;
    if (chunk != NULL) {
        set->cached = chunk->next;
        set->cached_count--;
        attach(set, chunk);
    }
    return chunk;
}

struct strata__chunk *strata__chunk_buy(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk =
        strata__os->map(STRATA__CHUNK_BYTES, STRATA__CHUNK_BYTES);
    if (chunk != NULL) {
        set->purchases++;
        attach(set, chunk);
    }
    return chunk;
}

static void push_cached(struct strata__chunk_set *set, struct strata__chunk *chunk)
{
    chunk->next = set->cached;
    set->cached = chunk;
    set->cached_count++;
}

size_t strata__chunk_delete(struct strata__chunk_set *set, struct strata__chunk *chunk)
{
    STRATA__BUG_IF(chunk == set->main);
    chunk->next->prev = chunk->prev;
    chunk->prev->next = chunk->next;
    set->count--;
    set->free_pages -= STRATA__CHUNK_FREE_PAGES;
    discount_run(set, STRATA__CHUNK_FREE_PAGES);
    forget(set, chunk);
    if (set->count + set->cached_count < set->average + DELETE_CACHE_AVERAGE ||
        (set->count == set->delete_boundary && set->delete_count >= DELETE_CACHE_COUNT)) {
        push_cached(set, chunk);
        return 0;
    }
    if (set->cached == NULL) {
        if (set->count != set->delete_boundary) {
            set->delete_boundary = set->count;
            set->delete_count = 0;
        } else {
            set->delete_count++;
        }
    }
    if (set->cached != NULL && chunk->number <= set->cached->number) {
        /* The cached one is the younger: it goes, and this one takes its place. */
        struct strata__chunk *younger = set->cached;
        chunk->next = younger->next;
        set->cached = chunk;
        chunk = younger;
    }
    unmap(chunk);
    return STRATA__CHUNK_BYTES;
}

void strata__chunk_to_front(struct strata__chunk_set *set, struct strata__chunk *chunk)
{
    chunk->prev->next = chunk->next;
    chunk->next->prev = chunk->prev;
    chunk->next = set->main->next;
    chunk->prev = set->main;
    chunk->prev->next = chunk;
    chunk->next->prev = chunk;
}

size_t strata__chunk_drop_cached(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->cached;
    if (chunk == NULL) {
        return 0;
    }
    set->cached = chunk->next;
    set->cached_count--;
    unmap(chunk);
    return STRATA__CHUNK_BYTES;
}

size_t strata__chunk_set_restart(struct strata__chunk_set *set)
{
    struct strata__chunk *chunk = set->main->next;
    while (chunk != set->main) {
        struct strata__chunk *next = chunk->next;
        forget(set, chunk);
        push_cached(set, chunk);
        chunk = next;
    }
    set->average = (set->average + (double)set->peak_count) / 2.0;
    while (set->cached != NULL &&
           (double)set->cached_count + RESTART_AVERAGE > set->average) {
        strata__chunk_drop_cached(set);
    }
    start_ring(set);
    return ((size_t)set->cached_count + 1) * STRATA__CHUNK_BYTES;
}

struct strata__chunk *strata__chunk_find(
    struct strata__chunk_set *set, const void *address)
{
    uintptr_t base = strata__chunk_base(address);
    uintptr_t *known = strata__chunk_known(set, base);
    struct strata__chunk *chunk = set->main;
    if (*known == base) {
        return (struct strata__chunk *)base;
    }
    do {
        if ((uintptr_t)chunk == base) {
            *known = base;
            return chunk;
        }
        chunk = chunk->next;
    } while (chunk != set->main);
    return NULL;
}
