/*
 * The address map: what each unit of 64 KiB of address space holds, and which of its 16
 * pages may be resident. Reading needs no lock, and any address may be asked for.
 */
#ifndef STRATA_UNITMAP_H
#define STRATA_UNITMAP_H

#include <stddef.h>
#include <stdint.h>

#include "pagesize.h"

#define STRATA__UNIT_BITS 16
#define STRATA__UNIT_BYTES ((size_t)1 << STRATA__UNIT_BITS)
#define STRATA__UNIT_PAGES 16U
#define STRATA__UNIT_PAGES_MASK 0xffffU /* a bit for each */
#define STRATA__LEAF_BITS 16
#if defined(__aarch64__)
#    define STRATA__ADDRESS_BITS 48
#else
#    define STRATA__ADDRESS_BITS 47
#endif
#define STRATA__ROOT_SHIFT (STRATA__UNIT_BITS + STRATA__LEAF_BITS)
#define STRATA__ROOT_ENTRIES ((size_t)1 << (STRATA__ADDRESS_BITS - STRATA__ROOT_SHIFT))
#define STRATA__LEAF_ENTRIES ((size_t)1 << STRATA__LEAF_BITS)

/* An entry: the kind in the top byte, a pointer below. 0: nothing of ours. A kind up to
 * STRATA__BLOCK_CLASSES is a slab of class kind - 1. */
#define STRATA__KIND_SHIFT 56
#define STRATA__KIND_MIXED 0xfaU    /* shared by many classes */
#define STRATA__KIND_UNUSED 0xfbU   /* of a region; no block starts in this unit */
#define STRATA__KIND_INTERIOR 0xfcU /* inside a large block, not its start */
#define STRATA__KIND_FREE 0xfdU     /* first or last unit of a free span */
#define STRATA__KIND_LARGE 0xfeU    /* first unit of a large block */
#define STRATA__KIND_HUGE 0xffU /* the unit where a block with its own mapping starts */

/* Units that bytes from the start of one reach into. */
static inline size_t strata__units_of(size_t bytes)
{
    return (bytes + STRATA__UNIT_BYTES - 1) >> STRATA__UNIT_BITS;
}

/* Bits of the pages of unit number `unit` that a block of `bytes` covers. */
static inline uint16_t strata__unit_pages_of(size_t bytes, size_t unit)
{
    size_t left_pages = (bytes - unit * STRATA__UNIT_BYTES) / STRATA__PAGE_BYTES;
    return (uint16_t)(left_pages >= STRATA__UNIT_PAGES ? STRATA__UNIT_PAGES_MASK
                                                       : (1U << left_pages) - 1);
}

struct strata__leaf {
    uint64_t entries[STRATA__LEAF_ENTRIES];
    uint16_t touched[STRATA__LEAF_ENTRIES]; /* bit for each page that may be resident */
};

extern struct strata__leaf *strata__unitmap_root[STRATA__ROOT_ENTRIES];

static inline size_t strata__leaf_index(const void *address)
{
    return (uintptr_t)address >> STRATA__UNIT_BITS & (STRATA__LEAF_ENTRIES - 1);
}

static inline uint64_t strata__unitmap_get(const void *address)
{
    uintptr_t number = (uintptr_t)address;
    if (__builtin_expect(number >> STRATA__ADDRESS_BITS != 0, 0)) {
        return 0;
    }
    const struct strata__leaf *leaf = __atomic_load_n(
        &strata__unitmap_root[number >> STRATA__ROOT_SHIFT], __ATOMIC_ACQUIRE);
    if (__builtin_expect(leaf == NULL, 0)) {
        return 0;
    }
    return __atomic_load_n(&leaf->entries[strata__leaf_index(address)], __ATOMIC_RELAXED);
}

static inline unsigned strata__entry_kind(uint64_t entry)
{
    return (unsigned)(entry >> STRATA__KIND_SHIFT);
}

static inline void *strata__entry_pointer(uint64_t entry)
{
    return (void *)(uintptr_t)(entry & (((uint64_t)1 << STRATA__KIND_SHIFT) - 1));
}

static inline uint64_t strata__entry(unsigned kind, const void *pointer)
{
    return (uint64_t)kind << STRATA__KIND_SHIFT | (uint64_t)(uintptr_t)pointer;
}

/* Makes sure that the units of a range can be set. 0 or -ENOMEM. */
int strata__unitmap_cover(const void *start, size_t bytes);

/* Only for addresses that are covered; one thread at a time for one unit. */
void strata__unitmap_set(const void *address, uint64_t entry);
uint16_t *strata__unitmap_touched(const void *address);
/* Of the units from `start` on: how many pages may be resident, and is it any? */
size_t strata__unitmap_touched_pages(const char *start, size_t units);
int strata__unitmap_any_touched(const char *start, size_t units);

#endif
