/*
 * The mixed units, on one list of all and in bins by their longest free run: what mixed.c
 * hands out of, and mixed_figures.c shows and checks. Everything is under the lock.
 */
#ifndef STRATA_MIXED_UNITS_H
#define STRATA_MIXED_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "blockclass.h"
#include "lock.h"
#include "mixed.h"

#define STRATA__MIXED_BINS (STRATA__WIDE_CLASS - STRATA__SLAB_CLASSES)
#define STRATA__MIXED_NO_BIN STRATA__MIXED_BINS

struct strata__mixed_units {
    struct strata__lock lock;
    LIST_HEAD(, strata__mixed) bins[STRATA__MIXED_BINS];
    uint64_t filled; /* bit for each bin that has a unit */
    TAILQ_HEAD(, strata__mixed) all;
    size_t count;
    size_t empty_units;
    size_t adopted;
    size_t free_granules;
    size_t touched_pages;
    size_t purged_bytes;
    size_t out_blocks[STRATA__MIXED_BINS];
};

extern struct strata__mixed_units strata__mixed_units;

/* Under the lock; read without it. */
static inline void strata__mixed_change_out(unsigned class, size_t by)
{
    size_t *count = &strata__mixed_units.out_blocks[class - STRATA__SLAB_CLASSES];
    __atomic_store_n(count, *count + by, __ATOMIC_RELAXED);
}

static inline unsigned strata__mixed_granules(unsigned class)
{
    return (unsigned)(strata__block_classes[class].bytes / STRATA__GRANULE_BYTES);
}

/* The bin of the largest class that fits into a run; STRATA__MIXED_NO_BIN: none does. */
unsigned strata__mixed_bin_of(unsigned granules);
/* To the bin that its longest run belongs to. */
void strata__mixed_rebin(struct strata__mixed *unit);

static inline void strata__mixed_set_longest(
    struct strata__mixed *unit, unsigned granules)
{
    unit->longest = (uint16_t)granules;
    if (strata__mixed_bin_of(granules) != unit->bin) {
        strata__mixed_rebin(unit);
    }
}

/* All granules are free. */
void strata__mixed_unit_init(struct strata__mixed *unit, char *start, uint16_t touched);
/* On the books, with its counts as they are. */
void strata__mixed_unit_add(struct strata__mixed *unit);
/* An empty unit from the unit heap, on the books; NULL: there is none. */
struct strata__mixed *strata__mixed_unit_new(void);
/* To the end of the list of all. */
void strata__mixed_unit_put_last(struct strata__mixed *unit);
/* Takes an empty unit off the books, and gives it back to the unit heap. */
void strata__mixed_unit_give_back(struct strata__mixed *unit);

#endif
