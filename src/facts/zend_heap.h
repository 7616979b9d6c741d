/* zend_heap.h - one Zend MM heap of another process, read without stopping it. */
#ifndef STRATA_FACTS_ZEND_HEAP_H
#define STRATA_FACTS_ZEND_HEAP_H

#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/memory.h"
#include "facts/zend_layout.h"
#include "facts_types/zend_facts.h"

/* Bounds of a walk: a heap beyond them is reported as such, never followed without end. */
enum {
    ZEND_MAX_CHUNKS = 1 << 16, /* 128 GiB */
    ZEND_MAX_DEEP_CHUNKS =
        1 << 12, /* 8 GiB: the free lists of a larger heap are not walked */
    ZEND_READ_TRIES = 8,
};

/* The counters of a heap: one read of one page. */
struct zend_counters {
    uint64_t used_bytes;
    uint64_t peak_used_bytes;
    uint64_t real_bytes;
    uint64_t peak_real_bytes;
    uint64_t limit_bytes;
    uint64_t hard_limit_bytes; /* 0: the build has none */
    uint64_t huge_list;
    uint64_t cached_list;
    uint32_t chunks;
    uint32_t peak_chunks;
    uint32_t cached_chunks;
    uint32_t delete_boundary;
    uint32_t delete_count;
    double average_chunks;
};

/* What is kept of a chunk for the walk of the free lists. */
struct zend_chunk_note {
    uint64_t address;
    uint32_t number;
    uint32_t free_pages;
    uint32_t resident_pages;
    bool cached;
};

/* A piece of the address space that belongs to a heap. */
struct zend_piece {
    uint64_t start;
    uint64_t bytes;
    bool huge; /* a huge block; else a chunk, of the ring or cached */
};

/* All pieces of a heap, in the order of the walk. */
struct zend_pieces {
    struct zend_piece *items;
    size_t count;
};

/*
 * A walk in progress. notes belong to region, the ring's chunks first, in ring order,
 * then the cached ones from the head of their list.
 */
struct zend_walk {
    struct memory *memory;
    const struct zend_layout *layout;
    uint64_t main_chunk;
    struct region *region;
    struct zend_counters counters;
    struct zend_chunk_note *notes;
    size_t note_count;
    struct zend_pieces pieces;
    struct zend_bin *bins; /* ZEND_BIN_COUNT */
};

/* The counters out of the main chunk's first page. */
struct zend_counters zend_counters_decode(
    const uint8_t *page, const struct zend_layout *layout);

/*
 * Reads the heap whose main chunk lies at main_chunk. The target runs on: a walk whose
 * counters moved meanwhile is tried again, at last given as FACT_STALE with
 * plus_minus_bytes. Never fails but for -ENOMEM: what went wrong is heap->state and
 * heap->why (in region). pieces (in region too) are those of the last walk.
 */
int zend_heap_read(struct memory *memory, uint64_t main_chunk,
    const struct zend_layout *layout, struct region *region, struct zend_heap_facts *heap,
    struct zend_pieces *pieces);

#endif
