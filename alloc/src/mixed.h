/*
 * Units that blocks of many classes share: what one class has freed another can use, down
 * to 16 bytes. For the classes from STRATA__SLAB_CLASSES on; called through central.h.
 */
#ifndef STRATA_MIXED_H
#define STRATA_MIXED_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "blockclass.h"
#include "granules.h"
#include "unitmap.h"

/* No two blocks of these classes start in the same cell. */
#define STRATA__CELL_BYTES ((size_t)64)
#define STRATA__CELLS (STRATA__UNIT_BYTES / STRATA__CELL_BYTES)

/* The descriptor of a unit. */
struct strata__mixed {
    /* For each cell where a block that is handed out starts: its class, from 1 on, times
     * four, and in which granule of the cell it starts. Else 0. */
    uint8_t cells[STRATA__CELLS];
    uint64_t free_bits[STRATA__GRANULE_WORDS]; /* by granule */
    LIST_ENTRY(strata__mixed) in_bin;
    TAILQ_ENTRY(strata__mixed) in_all;
    char *start;
    uint16_t free_granules;
    uint16_t longest; /* no free run is longer, in granules */
    uint16_t first;   /* no granule below it is free */
    uint16_t touched; /* bit for each page that may be resident */
    uint16_t idle;    /* free pages that the last sweep saw */
    uint8_t bin;
    uint8_t adopted;
};

struct strata__mixed_stats {
    size_t units;
    size_t free_bytes;
    size_t touched_bytes; /* pages of units that may be resident */
};

static inline uint8_t strata__mixed_cell(unsigned class, uintptr_t address)
{
    return (uint8_t)((class - STRATA__SLAB_CLASSES + 1) << 2 | (address >> 4 & 3));
}

/* Class of the block that starts at an address in a unit of kind MIXED; not below
 * STRATA__BLOCK_CLASSES if none does. */
static inline unsigned strata__mixed_class(uint64_t entry, const void *block)
{
    const struct strata__mixed *unit = strata__entry_pointer(entry);
    uintptr_t address = (uintptr_t)block;
    unsigned cell = unit->cells[address / STRATA__CELL_BYTES % STRATA__CELLS];
    unsigned class = (cell >> 2) + STRATA__SLAB_CLASSES - 1;
    int starts = cell != 0 && (address & 15) == 0 && (cell & 3) == (address >> 4 & 3);
    return starts ? class : STRATA__BLOCK_CLASSES;
}

/* As central_refill. `alignment` is a power of two, and not more than STRATA__BLOCK_MAX
 * together with a block; above 16 only one block may be wanted. Takes new units only if it
 * `may_grow`. */
size_t strata__mixed_refill(
    unsigned class, void **blocks, size_t wanted, size_t alignment, int may_grow);
/* Makes a mixed unit of a slab: a free bit for each block of the class, and the pages that
 * may be resident. The slab's owner has taken it off his books. 0 or -ENOMEM. */
int strata__mixed_adopt(
    unsigned class, char *start, const uint64_t *free_blocks, uint16_t touched);
/* How many units that were slabs there are. */
size_t strata__mixed_adopted(void);
void strata__mixed_flush(unsigned class, void *const *blocks, size_t count);
size_t strata__mixed_sweep(int now);
/* Blocks of any class that are outside: in use, or kept by a CPU. No lock. */
size_t strata__mixed_out_blocks(unsigned class);
void strata__mixed_get_stats(struct strata__mixed_stats *stats);

/* For fork; between the classes and the unit heap. */
void strata__mixed_lock(void);
void strata__mixed_unlock(void);
void strata__mixed_reset_lock(void);

#endif
