/*
 * The block classes and the page classes: pure tables, no state. Every other part may
 * read them.
 *
 * A page class says what a page of a run holds: the bin of its blocks and how far the
 * run's start lies before it. It is the low part of a page's word in the page map, so
 * that one load and one multiplication tell the owner bin of an address and whether the
 * address is the start of a block.
 */
#ifndef STRATA_SIZECLASS_H
#define STRATA_SIZECLASS_H

#include <stddef.h>
#include <stdint.h>

#include "pagesize.h"

#define STRATA__CHUNK_BITS 21
#define STRATA__CHUNK_BYTES ((size_t)1 << STRATA__CHUNK_BITS)
#define STRATA__CHUNK_PAGES (STRATA__CHUNK_BYTES / STRATA__PAGE_BYTES)
#define STRATA__BINS 30
#define STRATA__SMALL_MAX ((size_t)3072)
#define STRATA__LARGE_MAX (STRATA__CHUNK_BYTES - STRATA__PAGE_BYTES)
#define STRATA__MIN_BLOCK_16 ((size_t)16)

#define STRATA__CLASS_BITS 8 /* a byte of its own in a word of the page map */
#define STRATA__CLASS_MASK ((1U << STRATA__CLASS_BITS) - 1)
#define STRATA__PAGE_CLASSES (STRATA__CLASS_MASK + 1)
#define STRATA__CLASS_FREE 0U  /* no block begins here */
#define STRATA__CLASS_LARGE 1U /* first page of a block of whole pages */
#define STRATA__CLASS_TINY                                                               \
    2U                         /* COMPACT pages of 8-byte blocks: as class 3, but off the
                                  fast path */
#define STRATA__CLASS_SMALL 3U /* first of the classes which stand for (run, page) */

struct strata__sizeclass {
    uint16_t block_bytes;
    uint16_t zend_pages;
    uint16_t zend_blocks;
    uint16_t zend_class; /* page class of the run's first page; then one for each page */
    uint16_t compact_pages;
    uint16_t compact_blocks;
    uint16_t compact_class;
};

struct strata__page_class {
    uint32_t magic; /* ceil(2^32 / block bytes); 0: not for the fast path */
    int16_t shift;  /* bytes of this page from the run's first block; may be below zero */
    uint8_t bin;
    uint8_t back_pages; /* of this page from the run's first page */
};

/* An entry is found with one load if its size is a scale of the processor. */
_Static_assert(sizeof(struct strata__page_class) == 8, "a page class has 8 bytes");

/* Hidden where they are declared, so that no user of them goes through the GOT. */
#pragma GCC visibility push(hidden)
extern const struct strata__sizeclass strata__sizeclasses[STRATA__BINS];
extern const struct strata__page_class strata__page_classes[STRATA__PAGE_CLASSES];
/* bin of a size up to STRATA__SMALL_MAX; by bytes, since the shift of a shorter table
 * shows in the time of an alloc, and the few lines that are looked at stay in the cache */
extern const uint8_t strata__bins_of_bytes[STRATA__SMALL_MAX + 1];
#pragma GCC visibility pop

/* bytes <= STRATA__SMALL_MAX; 0 bytes are bin 0. */
static inline unsigned strata__bin_of(size_t bytes)
{
    return strata__bins_of_bytes[bytes];
}

static inline size_t strata__pages_of(size_t bytes)
{
    return bytes / STRATA__PAGE_BYTES + (bytes % STRATA__PAGE_BYTES != 0);
}

/* Blocks lie at the end of their run: what is too short for a block comes first. */
static inline size_t strata__run_waste(size_t pages, size_t blocks, size_t block_bytes)
{
    return pages * STRATA__PAGE_BYTES - blocks * block_bytes;
}

/* Distance of the address from the run's first block; wraps when it lies before it. */
static inline uint32_t strata__run_offset(
    const struct strata__page_class *class, const void *address)
{
    return (uint32_t) class->shift +
           (uint32_t)((uintptr_t)address & (STRATA__PAGE_BYTES - 1));
}

/*
 * Does a block start at `offset` (from the run's first block, between minus the block
 * size and 2^15)? Lemire, Kaser and Kurz, "Faster remainder by direct computation"
 * (2019): the low half of offset * ceil(2^32 / d) is below that magic number just for
 * multiples of d; the high half is the quotient. It is not for the offsets below zero, so
 * that no second test is needed. sizeclass_test.c proves it for every class and offset. A
 * class without small blocks has magic 0, so the answer is no.
 */
static inline int strata__is_block_start(
    const struct strata__page_class *class, uint32_t offset)
{
    return offset * class->magic < class->magic;
}

static inline uint32_t strata__block_index(
    const struct strata__page_class *class, uint32_t offset)
{
    return (uint32_t)(((uint64_t)offset * class->magic) >> 32);
}

#endif
