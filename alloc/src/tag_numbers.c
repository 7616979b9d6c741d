/*
 * Arrays of numbers, by where in its unit a block starts: 16 KiB of address space for each
 * unit of 64 KiB, 8 MiB at once, and pages only where a tagged block lies. They are never
 * given back, so a reader needs no lock.
 */
#include "tag_numbers.h"

#include "os.h"
#include "pagesize.h"
#include "region.h"
#include "unitmap.h"

#define CHUNK_BITS 25 /* 32 MiB of blocks */
#define CHUNK_UNITS ((size_t)1 << (CHUNK_BITS - STRATA__UNIT_BITS))
#define CHUNKS ((size_t)1 << (35 - CHUNK_BITS)) /* in a part of the root */
#define ROOTS ((size_t)1 << (STRATA__ADDRESS_BITS - 35))
#define UNIT_NUMBERS (STRATA__UNIT_BYTES / 8)

/* Numbers of records + 1, of the blocks of each unit. */
struct chunk {
    uint16_t numbers[CHUNK_UNITS][UNIT_NUMBERS];
};
struct root {
    struct chunk *chunks[CHUNKS];
};

static struct root *roots[ROOTS];

/* NULL: there is no place, and `make` could not help it. */
static uint16_t *number_of(const void *block, int make)
{
    uintptr_t address = (uintptr_t)block;
    struct root *root = __atomic_load_n(&roots[address >> 35], __ATOMIC_ACQUIRE);
    if (root == NULL) {
        root = make ? strata__os->map(sizeof(*root), STRATA__PAGE_BYTES) : NULL;
        if (root == NULL) {
            return NULL;
        }
        strata__region_add_place(root, sizeof(*root), STRATA_PLACE_MAP);
        __atomic_store_n(&roots[address >> 35], root, __ATOMIC_RELEASE);
    }
    struct chunk **place = &root->chunks[address >> CHUNK_BITS & (CHUNKS - 1)];
    struct chunk *chunk = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (chunk == NULL) {
        chunk = make ? strata__os->map(sizeof(*chunk), STRATA__PAGE_BYTES) : NULL;
        if (chunk == NULL) {
            return NULL;
        }
        strata__region_add_place(chunk, sizeof(*chunk), STRATA_PLACE_MAP);
        __atomic_store_n(place, chunk, __ATOMIC_RELEASE);
    }
    /* By place, since a slab may become a mixed unit while its blocks live. Only slabs of
     * class 0 have blocks of 8 bytes. */
    unsigned shift = strata__entry_kind(strata__unitmap_get(block)) == 1 ? 3 : 4;
    size_t index = (address & (STRATA__UNIT_BYTES - 1)) >> shift;
    return &chunk->numbers[address >> STRATA__UNIT_BITS & (CHUNK_UNITS - 1)][index];
}

uint16_t *strata__tag_number(const void *block)
{
    return number_of(block, 0);
}

uint16_t *strata__tag_make_number(const void *block)
{
    return number_of(block, 1);
}
