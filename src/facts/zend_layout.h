/* zend_layout.h - where the fields of a Zend MM heap lie, found from the heap itself. */
#ifndef STRATA_FACTS_ZEND_LAYOUT_H
#define STRATA_FACTS_ZEND_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/memory.h"
#include "facts_types/zend_facts.h"

enum {
    ZEND_CHUNK_BYTES = 2 << 20,
    ZEND_PAGE_BYTES = 4096,
    ZEND_CHUNK_PAGES = 512,
    ZEND_USABLE_PAGES = 511, /* page 0 of a chunk is its header */
    ZEND_HEAP_SLOT = 0x40,   /* offset of the heap struct in the main chunk */
};

/* One row of the engine's table of small sizes (Zend/zend_alloc_sizes.h, 7.0 to 8.5). */
struct zend_size {
    uint16_t block_bytes;
    uint16_t blocks; /* in one run */
    uint8_t pages;   /* of one run */
};

extern const struct zend_size zend_sizes[ZEND_BIN_COUNT];

/*
 * Offsets from the heap struct, and of the page map from the chunk. Security releases
 * inside a stable branch moved fields (8.2.35), so no table of versions is used: every
 * offset is found from what the heap must be like. A field that the build lacks is 0.
 */
struct zend_layout {
    uint32_t free_slots;
    uint32_t real_size; /* real_peak and limit follow */
    uint32_t hard_limit;
    uint32_t main_chunk; /* huge_list lies before, cached_chunks and the counts behind */
    uint32_t free_map;   /* offset in the chunk: 512 bits, set: page taken */
    uint32_t page_map;   /* offset in the chunk: 512 words */
};

/* The first bytes of a chunk: links and counts. */
struct zend_chunk_head {
    uint64_t heap;
    uint64_t next;
    uint64_t previous;
    uint32_t free_pages;
    uint32_t free_tail;
    uint32_t number;
};

/* Decodes the head at the start of a chunk's first page. */
struct zend_chunk_head zend_chunk_head_decode(const uint8_t *page);

/* Can page, read at address, be the first page of a heap's main chunk? By shape only. */
bool zend_is_main_chunk(uint64_t address, const struct zend_chunk_head *head);

/* What the sum of a heap's huge blocks was found to be. */
struct zend_huge_sum {
    uint64_t blocks;
    uint64_t bytes;
};

/*
 * Walks a heap's list of huge blocks from first. 0, -EINVAL when it cannot be such a list
 * (unaligned, too long, or in a ring), or -errno of the read.
 */
int zend_huge_list_sum(struct memory *memory, uint64_t first, struct zend_huge_sum *sum);

/* One node of that list: the block, its size, the next node. 0 or as above. */
struct zend_huge_node {
    uint64_t block;
    uint64_t bytes;
    uint64_t next;
};
int zend_huge_node_read(
    struct memory *memory, uint64_t address, struct zend_huge_node *node);

/*
 * Finds the layout from page, the first ZEND_PAGE_BYTES of the main chunk at address;
 * memory is needed for the huge list only. 0, or -ENOENT when no layout fits.
 */
int zend_layout_find(struct memory *memory, uint64_t address, const uint8_t *page,
    struct zend_layout *layout);

/* Words of a page that was read; offset + width must lie inside it. */
uint64_t zend_word(const uint8_t *page, uint32_t offset);
uint32_t zend_half_word(const uint8_t *page, uint32_t offset);

#endif
