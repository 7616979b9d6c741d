/*
 * The figures of the mixed units: shown in the region, and compared with a recount of
 * every unit's cells and bits.
 */
#include "mixed_figures.h"

#include "lock.h"
#include "mixed.h"
#include "mixed_units.h"
#include "os.h"
#include "pagesize.h"
#include "region.h"

void strata__mixed_show(unsigned class)
{
    struct strata_layout_mixed *shown = &strata__shared.region.mixed;
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    strata__region_set(&shown->units, strata__mixed_units.count);
    strata__region_set(
        &shown->free_bytes, strata__mixed_units.free_granules * STRATA__GRANULE_BYTES);
    strata__region_set(
        &shown->touched_bytes, strata__mixed_units.touched_pages * STRATA__PAGE_BYTES);
    strata__region_set(&shown->purged_bytes, strata__mixed_units.purged_bytes);
    strata__region_set(&shown->descriptor_bytes,
        strata__mixed_units.count * sizeof(struct strata__mixed));
    if (class < STRATA__BLOCK_CLASSES) {
        strata__region_set(&shown->out_blocks[class],
            strata__mixed_units.out_blocks[class - STRATA__SLAB_CLASSES]);
    }
    strata__region_end(&shown->sequence);
}

void strata__mixed_publish(void)
{
    strata__lock_take(&strata__mixed_units.lock);
    for (unsigned class = STRATA__SLAB_CLASSES; class < STRATA__WIDE_CLASS; class ++) {
        strata__mixed_show(class);
    }
    strata__lock_drop(&strata__mixed_units.lock);
}

/* A block begins at a granule: it is counted, and its end returned. */
static unsigned check_block(
    const struct strata__mixed *unit, unsigned at, size_t *out_blocks)
{
    const char *address = unit->start + at * STRATA__GRANULE_BYTES;
    unsigned class =
        strata__mixed_class(strata__entry(STRATA__KIND_MIXED, unit), address);
    STRATA__BUG_IF(class >= STRATA__WIDE_CLASS);
    unsigned end = at + strata__mixed_granules(class);
    STRATA__BUG_IF(strata__granule_next(unit->free_bits, at, 0) < end);
    out_blocks[class - STRATA__SLAB_CLASSES]++;
    return end;
}

/* What a walk finds of free runs. */
struct runs {
    unsigned free, longest, first;
};

/* Walks the blocks by their cells, and the free runs between them by their bits. */
static struct runs walk_unit(const struct strata__mixed *unit, size_t *out_blocks)
{
    struct runs runs = {.first = STRATA__GRANULES};
    for (unsigned at = 0; at < STRATA__GRANULES;) {
        unsigned end = strata__granule_next(unit->free_bits, at, UINT64_MAX);
        if (end == at) {
            end = check_block(unit, at, out_blocks);
        } else {
            runs.free += end - at;
            runs.longest = end - at > runs.longest ? end - at : runs.longest;
            runs.first = at < runs.first ? at : runs.first;
        }
        at = end;
    }
    return runs;
}

static void check_unit(const struct strata__mixed *unit, size_t *out_blocks)
{
    struct runs runs = walk_unit(unit, out_blocks);
    STRATA__BUG_IF(runs.free != unit->free_granules || runs.longest > unit->longest);
    STRATA__BUG_IF(runs.first < unit->first);
    STRATA__BUG_IF(strata__mixed_bin_of(unit->longest) != unit->bin);
    STRATA__BUG_IF((unit->idle & ~unit->touched) != 0);
    STRATA__BUG_IF(
        strata__unitmap_get(unit->start) != strata__entry(STRATA__KIND_MIXED, unit));
}

void strata__mixed_check(void)
{
    size_t out_blocks[STRATA__MIXED_BINS] = {0};
    size_t units = 0;
    size_t empty = 0;
    size_t granules = 0;
    size_t pages = 0;
    strata__lock_take(&strata__mixed_units.lock);
    const struct strata__mixed *unit = NULL;
    TAILQ_FOREACH (unit, &strata__mixed_units.all, in_all) {
        check_unit(unit, out_blocks);
        units++;
        empty += unit->free_granules == STRATA__GRANULES;
        granules += unit->free_granules;
        pages += (size_t)__builtin_popcount(unit->touched);
    }
    for (unsigned i = 0; i < STRATA__MIXED_BINS; i++) {
        STRATA__BUG_IF(out_blocks[i] != strata__mixed_units.out_blocks[i]);
        STRATA__BUG_IF(LIST_EMPTY(&strata__mixed_units.bins[i]) ==
                       (strata__mixed_units.filled >> i & 1));
    }
    STRATA__BUG_IF(units != strata__mixed_units.count ||
                   granules != strata__mixed_units.free_granules);
    STRATA__BUG_IF(pages != strata__mixed_units.touched_pages ||
                   empty != strata__mixed_units.empty_units);
    strata__lock_drop(&strata__mixed_units.lock);
}
