/*
 * Units of 64 KiB in granules of 16 bytes: a bit for each free granule, and a byte for each
 * 64 bytes that says which class of block starts there. Both lie in metadata, so a free
 * block is never read or written, and a page without a live block goes back to the kernel
 * while its unit lives on, as with the slabs of central.c.
 *
 * What is freed joins its free neighbours at once, whatever class they had. So sparse
 * survivors of one size do not keep memory from the next size, which slabs of one class
 * do: that is what this file is for (figures: docs/decisions).
 *
 * A refill looks for the lowest bin that will do (mixed_units.c): units with short runs are
 * the full ones, and the others get time to become empty. Within a unit the first fit is
 * taken.
 *
 * One lock. Under it the unit heap may be called (refill) and pages be purged (sweep, a
 * few units at a time). One empty unit is kept until a sweep comes, others go back to the
 * unit heap under it.
 */
#include "mixed.h"

#include <errno.h>

#include "limit.h"
#include "lock.h"
#include "metadata.h"
#include "mixed_figures.h"
#include "mixed_units.h"
#include "os.h"
#include "pagesize.h"
#include "units.h"

#define WORDS_PER_PAGE 4U
#define SWEEP_UNITS 16U
#define HEAP_NAME "malloc"

/* 0, or -ENOMEM when the limit forbids the pages that would be touched. */
static int hand_out(struct strata__mixed *unit, unsigned class, unsigned first,
    unsigned count, void **blocks)
{
    unsigned granules = strata__mixed_granules(class);
    unsigned end = first + count * granules;
    uint16_t pages = strata__granule_pages(first, end);
    size_t more = (size_t)__builtin_popcount(pages & ~(unsigned)unit->touched);
    if (strata__limit_buy(more * STRATA__PAGE_BYTES) != 0) {
        return -ENOMEM;
    }
    strata__mixed_units.touched_pages += more;
    unit->touched |= pages;
    unit->idle &= (uint16_t)~pages;
    strata__granule_flip(unit->free_bits, first, end);
    for (unsigned i = 0; i < count; i++) {
        char *block = unit->start + (first + i * granules) * STRATA__GRANULE_BYTES;
        unit->cells[(uintptr_t)block / STRATA__CELL_BYTES % STRATA__CELLS] =
            strata__mixed_cell(class, (uintptr_t)block);
        blocks[i] = block;
    }
    return 0;
}

/* What a search asks for. */
struct wish {
    unsigned class;
    unsigned granules;  /* of one block */
    unsigned alignment; /* in granules */
    int refused;        /* the limit forbids what was found */
};

/* Counts what was taken out of a unit. */
static void count_out(struct strata__mixed *unit, const struct wish *wish, size_t got)
{
    strata__mixed_units.empty_units -= got > 0 && unit->free_granules == STRATA__GRANULES;
    strata__mixed_units.free_granules -= got * wish->granules;
    strata__mixed_change_out(wish->class, got);
    unit->free_granules -= (uint16_t)(got * wish->granules);
}

/* Takes blocks out of one unit, first fit; what it learns on the way about the longest
 * run goes into the unit's bin. */
static size_t carve(
    struct strata__mixed *unit, struct wish *wish, void **blocks, size_t wanted)
{
    unsigned at = strata__granule_next(unit->free_bits, unit->first, 0);
    unsigned longest = 0;
    unsigned left = STRATA__GRANULES; /* the first granule that stays free */
    size_t got = 0;
    while (at < STRATA__GRANULES && got < wanted && !wish->refused) {
        unsigned end = strata__granule_next(unit->free_bits, at, UINT64_MAX);
        unsigned start = (at + wish->alignment - 1) & ~(wish->alignment - 1);
        unsigned fit = start < end ? (end - start) / wish->granules : 0;
        fit = fit < wanted - got ? fit : (unsigned)(wanted - got);
        wish->refused =
            fit > 0 && hand_out(unit, wish->class, start, fit, blocks + got) != 0;
        fit = wish->refused ? 0 : fit;
        got += fit;
        unsigned behind = fit > 0 ? start + fit * wish->granules : at;
        unsigned before = fit > 0 ? start - at : 0;
        unsigned rest = end - behind > before ? end - behind : before;
        longest = rest > longest ? rest : longest;
        if (rest > 0 && left == STRATA__GRANULES) {
            left = before > 0 ? at : behind;
        }
        at =
            end == STRATA__GRANULES ? end : strata__granule_next(unit->free_bits, end, 0);
    }
    count_out(unit, wish, got);
    unit->first = (uint16_t)(left < at ? left : at);
    if (at < STRATA__GRANULES) { /* the rest was not looked at */
        longest =
            unit->longest < unit->free_granules ? unit->longest : unit->free_granules;
    }
    strata__mixed_set_longest(unit, longest);
    return got;
}

/* Where one block fits on pages that are touched already, or STRATA__GRANULES. Such a
 * stretch begins with a free run or with a page. */
static unsigned find_bought_in(const struct strata__mixed *unit, const struct wish *wish)
{
    unsigned at = strata__granule_next(unit->free_bits, unit->first, 0);
    while (at < STRATA__GRANULES) {
        unsigned end = strata__granule_next(unit->free_bits, at, UINT64_MAX);
        unsigned start = (at + wish->alignment - 1) & ~(wish->alignment - 1);
        while (start + wish->granules <= end) {
            if ((strata__granule_pages(start, start + wish->granules) & ~unit->touched) ==
                0) {
                return start;
            }
            start = (start / STRATA__PAGE_GRANULES + 1) * STRATA__PAGE_GRANULES;
        }
        at =
            end == STRATA__GRANULES ? end : strata__granule_next(unit->free_bits, end, 0);
    }
    return at;
}

/* One block, when no page may be bought. */
static size_t find_bought(const struct wish *wish, void **blocks)
{
    struct strata__mixed *unit = NULL;
    TAILQ_FOREACH (unit, &strata__mixed_units.all, in_all) {
        unsigned start = unit->longest >= wish->granules ? find_bought_in(unit, wish)
                                                         : STRATA__GRANULES;
        if (start < STRATA__GRANULES &&
            hand_out(unit, wish->class, start, 1, blocks) == 0) {
            count_out(unit, wish, 1);
            return 1;
        }
    }
    return 0;
}

/* The bins of which each unit has a run with room for the block, wherever the run begins. */
static uint64_t bins_for(const struct wish *wish)
{
    unsigned granules = wish->granules + wish->alignment - 1;
    unsigned bin = strata__mixed_bin_of(granules);
    unsigned has = strata__mixed_granules(bin + STRATA__SLAB_CLASSES);
    STRATA__BUG_IF(has < granules && bin + 1 == STRATA__MIXED_BINS);
    return UINT64_MAX << (bin + (has < granules));
}

size_t strata__mixed_refill(
    unsigned class, void **blocks, size_t wanted, size_t alignment, int may_grow)
{
    struct wish wish = {.class = class,
        .granules = strata__mixed_granules(class),
        .alignment = alignment <= STRATA__GRANULE_BYTES
                         ? 1
                         : (unsigned)(alignment / STRATA__GRANULE_BYTES)};
    uint64_t enough = bins_for(&wish);
    size_t got = 0;
    strata__lock_take(&strata__mixed_units.lock);
    while (got == 0 && !wish.refused) {
        uint64_t bins = strata__mixed_units.filled & enough;
        struct strata__mixed *unit = NULL;
        if (bins != 0) {
            unit = LIST_FIRST(&strata__mixed_units.bins[__builtin_ctzll(bins)]);
        } else if (may_grow) {
            unit = strata__mixed_unit_new();
        }
        if (unit == NULL) {
            break;
        }
        got = carve(unit, &wish, blocks, wanted);
    }
    if (wish.refused && got == 0) {
        got = find_bought(&wish, blocks);
    }
    strata__mixed_show(class);
    strata__lock_drop(&strata__mixed_units.lock);
    return got;
}

/* Marks a block of a slab as one that is handed out. */
static void adopt_block(struct strata__mixed *unit, unsigned class, unsigned index)
{
    unsigned granules = strata__mixed_granules(class);
    char *block = unit->start + (size_t)index * strata__block_classes[class].bytes;
    unit->cells[(uintptr_t)block / STRATA__CELL_BYTES % STRATA__CELLS] =
        strata__mixed_cell(class, (uintptr_t)block);
    strata__granule_flip(unit->free_bits, index * granules, (index + 1) * granules);
    unit->free_granules -= (uint16_t)granules;
}

int strata__mixed_adopt(
    unsigned class, char *start, const uint64_t *free_blocks, uint16_t touched)
{
    struct strata__mixed *unit = strata__metadata_take(sizeof(*unit));
    unsigned blocks = strata__block_classes[class].blocks;
    size_t out = 0;
    if (unit == NULL) {
        return -ENOMEM;
    }
    strata__mixed_unit_init(unit, start, touched);
    for (unsigned i = 0; i < blocks; i++) {
        if ((free_blocks[i / STRATA__WORD_BITS] >> i % STRATA__WORD_BITS & 1) == 0) {
            adopt_block(unit, class, i);
            out++;
        }
    }
    /* An upper bound; the first search makes it exact. */
    unit->longest = unit->free_granules;
    unit->adopted = 1;
    strata__lock_take(&strata__mixed_units.lock);
    __atomic_store_n(
        &strata__mixed_units.adopted, strata__mixed_units.adopted + 1, __ATOMIC_RELAXED);
    strata__mixed_change_out(class, out);
    strata__mixed_unit_add(unit);
    strata__mixed_show(class);
    strata__lock_drop(&strata__mixed_units.lock);
    return 0;
}

size_t strata__mixed_adopted(void)
{
    return __atomic_load_n(&strata__mixed_units.adopted, __ATOMIC_RELAXED);
}

static struct strata__mixed *unit_at(unsigned class, const void *address)
{
    uint64_t entry = strata__unitmap_get(address);
    if (strata__entry_kind(entry) != STRATA__KIND_MIXED) {
        strata__fatal(HEAP_NAME, "not an allocated block", address);
    }
    struct strata__mixed *unit = strata__entry_pointer(entry);
    if (strata__mixed_class(entry, address) != class) {
        unsigned granule =
            (unsigned)((const char *)address - unit->start) / STRATA__GRANULE_BYTES;
        int is_free = (int)(unit->free_bits[granule / STRATA__WORD_BITS] >>
                                granule % STRATA__WORD_BITS &
                            1);
        strata__fatal(
            HEAP_NAME, is_free ? "double free" : "not the start of a block", address);
    }
    return unit;
}

static void give(struct strata__mixed *unit, unsigned class, const void *block)
{
    unsigned granules = strata__mixed_granules(class);
    unsigned first =
        (unsigned)((const char *)block - unit->start) / STRATA__GRANULE_BYTES;
    strata__granule_flip(unit->free_bits, first, first + granules);
    unit->cells[(uintptr_t)block / STRATA__CELL_BYTES % STRATA__CELLS] = 0;
    unit->free_granules += (uint16_t)granules;
    strata__mixed_units.free_granules += granules;
    strata__mixed_change_out(class, (size_t)-1);
    if (unit->free_granules <= unit->longest) {
        unit->first = (uint16_t)(first < unit->first ? first : unit->first);
        return;
    }
    unsigned start = strata__granule_run_start(unit->free_bits, first);
    unsigned end = strata__granule_next(unit->free_bits, first + granules, UINT64_MAX);
    unit->first = (uint16_t)(start < unit->first ? start : unit->first);
    if (end - start > unit->longest) {
        strata__mixed_set_longest(unit, end - start);
    }
}

void strata__mixed_flush(unsigned class, void *const *blocks, size_t count)
{
    strata__lock_take(&strata__mixed_units.lock);
    for (size_t i = 0; i < count; i++) {
        struct strata__mixed *unit = unit_at(class, blocks[i]);
        give(unit, class, blocks[i]);
        if (unit->free_granules == STRATA__GRANULES) {
            strata__mixed_units.empty_units++;
            if (strata__mixed_units.empty_units > 1) {
                strata__mixed_unit_give_back(unit);
            }
        }
    }
    strata__mixed_show(class);
    strata__lock_drop(&strata__mixed_units.lock);
}

static uint16_t free_pages(const struct strata__mixed *unit)
{
    unsigned free = 0;
    for (unsigned page = 0; page < STRATA__UNIT_PAGES; page++) {
        const uint64_t *words = unit->free_bits + (size_t)page * WORDS_PER_PAGE;
        if ((words[0] & words[1] & words[2] & words[3]) == UINT64_MAX) {
            free |= 1U << page;
        }
    }
    return (uint16_t)(free & unit->touched);
}

static size_t sweep_unit(struct strata__mixed *unit, int now)
{
    uint16_t free = free_pages(unit);
    uint16_t purged = strata__units_purge_pages(
        unit->start, now ? free : (uint16_t)(free & unit->idle));
    unit->touched &= (uint16_t)~purged;
    unit->idle = free & (uint16_t)~purged;
    size_t pages = (size_t)__builtin_popcount(purged);
    strata__mixed_units.touched_pages -= pages;
    strata__mixed_units.purged_bytes += pages * STRATA__PAGE_BYTES;
    strata__limit_return(pages * STRATA__PAGE_BYTES);
    return pages * STRATA__PAGE_BYTES;
}

/* Units that were looked at go to the end of the list, so that the lock can be dropped in
 * between. */
size_t strata__mixed_sweep(int now)
{
    size_t purged = 0;
    strata__lock_take(&strata__mixed_units.lock);
    size_t left = strata__mixed_units.count;
    for (size_t done = 1; left > 0 && !TAILQ_EMPTY(&strata__mixed_units.all);
         left--, done++) {
        struct strata__mixed *unit = TAILQ_FIRST(&strata__mixed_units.all);
        purged += sweep_unit(unit, now);
        if (unit->free_granules == STRATA__GRANULES && unit->touched == 0) {
            strata__mixed_unit_give_back(unit);
        } else {
            strata__mixed_unit_put_last(unit);
        }
        if (done % SWEEP_UNITS == 0) {
            strata__mixed_show(STRATA__BLOCK_CLASSES);
            strata__lock_drop(&strata__mixed_units.lock);
            strata__lock_take(&strata__mixed_units.lock);
        }
    }
    strata__mixed_show(STRATA__BLOCK_CLASSES);
    strata__lock_drop(&strata__mixed_units.lock);
    return purged;
}

size_t strata__mixed_out_blocks(unsigned class)
{
    return class < STRATA__SLAB_CLASSES || class >= STRATA__WIDE_CLASS
               ? 0
               : __atomic_load_n(
                     &strata__mixed_units.out_blocks[class - STRATA__SLAB_CLASSES],
                     __ATOMIC_RELAXED);
}

void strata__mixed_get_stats(struct strata__mixed_stats *stats)
{
    strata__lock_take(&strata__mixed_units.lock);
    *stats = (struct strata__mixed_stats){.units = strata__mixed_units.count,
        .free_bytes = strata__mixed_units.free_granules * STRATA__GRANULE_BYTES,
        .touched_bytes = strata__mixed_units.touched_pages * STRATA__PAGE_BYTES};
    strata__lock_drop(&strata__mixed_units.lock);
}

void strata__mixed_lock(void)
{
    strata__lock_take(&strata__mixed_units.lock);
}

void strata__mixed_unlock(void)
{
    strata__lock_drop(&strata__mixed_units.lock);
}

void strata__mixed_reset_lock(void)
{
    strata__lock_reset(&strata__mixed_units.lock);
}
