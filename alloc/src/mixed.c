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
 * A unit is in a bin by its longest free run, as the largest class that fits into it. The
 * bin is an upper bound, made exact by every search that reaches the end of the unit. A
 * refill looks for the lowest bin that will do: units with short runs are the full ones,
 * and the others get time to become empty. Within a unit the first fit is taken.
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
#include "os.h"
#include "region.h"
#include "units.h"

#define PAGE_BYTES ((size_t)4096)
#define PAGE_GRANULES 256U
#define WORDS_PER_PAGE 4U
#define WORD_BITS 64U
#define BINS (STRATA__WIDE_CLASS - STRATA__SLAB_CLASSES)
#define NO_BIN BINS
#define SWEEP_UNITS 16U
#define HEAP_NAME "malloc"

_Static_assert(BINS < 64, "a bit for each bin, and six bits of a cell for each class");
_Static_assert(sizeof(struct strata__mixed) <= STRATA__METADATA_MAX, "a descriptor");

static struct {
    struct strata__lock lock;
    struct strata__mixed *bins[BINS];
    uint64_t filled; /* bit for each bin that has a unit */
    struct strata__mixed *first_unit, *last_unit;
    size_t units;
    size_t empty_units;
    size_t adopted;
    size_t free_granules;
    size_t touched_pages;
    size_t purged_bytes;
    size_t out_blocks[BINS];
} mixed;

/* Under the lock; read without it. */
static void change_out(unsigned class, size_t by)
{
    size_t *count = &mixed.out_blocks[class - STRATA__SLAB_CLASSES];
    __atomic_store_n(count, *count + by, __ATOMIC_RELAXED);
}

/* Under the lock, when something has changed; of a class if it has. */
static void publish(unsigned class)
{
    struct strata_layout_mixed *shown = &strata__shared.region.mixed;
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    strata__region_set(&shown->units, mixed.units);
    strata__region_set(&shown->free_bytes, mixed.free_granules * STRATA__GRANULE_BYTES);
    strata__region_set(&shown->touched_bytes, mixed.touched_pages * PAGE_BYTES);
    strata__region_set(&shown->purged_bytes, mixed.purged_bytes);
    strata__region_set(
        &shown->descriptor_bytes, mixed.units * sizeof(struct strata__mixed));
    if (class < STRATA__BLOCK_CLASSES) {
        strata__region_set(
            &shown->out_blocks[class], mixed.out_blocks[class - STRATA__SLAB_CLASSES]);
    }
    strata__region_end(&shown->sequence);
}

static unsigned granules_of(unsigned class)
{
    return (unsigned)(strata__block_classes[class].bytes / STRATA__GRANULE_BYTES);
}

/* The largest class that fits into a run. */
static unsigned bin_of(unsigned granules)
{
    size_t bytes = granules * STRATA__GRANULE_BYTES;
    if (bytes >= STRATA__BLOCK_MAX) {
        return BINS - 1;
    }
    if (bytes < STRATA__CELL_BYTES) {
        return NO_BIN;
    }
    unsigned class = strata__block_class_of(bytes);
    class -= strata__block_classes[class].bytes > bytes;
    return class - STRATA__SLAB_CLASSES;
}

static void bin_add(struct strata__mixed *unit)
{
    unit->bin = (uint8_t)bin_of(unit->longest);
    unit->previous = NULL;
    unit->next = NULL;
    if (unit->bin == NO_BIN) {
        return;
    }
    unit->next = mixed.bins[unit->bin];
    if (unit->next != NULL) {
        unit->next->previous = unit;
    }
    mixed.bins[unit->bin] = unit;
    mixed.filled |= UINT64_C(1) << unit->bin;
}

static void bin_remove(struct strata__mixed *unit)
{
    if (unit->bin == NO_BIN) {
        return;
    }
    if (unit->previous != NULL) {
        unit->previous->next = unit->next;
    } else {
        mixed.bins[unit->bin] = unit->next;
        if (unit->next == NULL) {
            mixed.filled &= ~(UINT64_C(1) << unit->bin);
        }
    }
    if (unit->next != NULL) {
        unit->next->previous = unit->previous;
    }
}

static void set_longest(struct strata__mixed *unit, unsigned granules)
{
    unit->longest = (uint16_t)granules;
    if (bin_of(granules) != unit->bin) {
        bin_remove(unit);
        bin_add(unit);
    }
}

/* To the end of the list of all. */
static void unit_link(struct strata__mixed *unit)
{
    unit->next_unit = NULL;
    unit->previous_unit = mixed.last_unit;
    if (mixed.last_unit != NULL) {
        mixed.last_unit->next_unit = unit;
    } else {
        mixed.first_unit = unit;
    }
    mixed.last_unit = unit;
}

static void unit_unlink(struct strata__mixed *unit)
{
    if (unit->previous_unit != NULL) {
        unit->previous_unit->next_unit = unit->next_unit;
    } else {
        mixed.first_unit = unit->next_unit;
    }
    if (unit->next_unit != NULL) {
        unit->next_unit->previous_unit = unit->previous_unit;
    } else {
        mixed.last_unit = unit->previous_unit;
    }
}

/* On the books, with its counts as they are. */
static void unit_add(struct strata__mixed *unit)
{
    mixed.units++;
    mixed.empty_units += unit->free_granules == STRATA__GRANULES;
    mixed.free_granules += unit->free_granules;
    mixed.touched_pages += (size_t)__builtin_popcount(unit->touched);
    unit_link(unit);
    bin_add(unit);
    strata__unitmap_set(unit->start, strata__entry(STRATA__KIND_MIXED, unit));
}

/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void unit_init(struct strata__mixed *unit, char *start, uint16_t touched)
{
    *unit = (struct strata__mixed){.start = start,
        .free_granules = STRATA__GRANULES,
        .longest = STRATA__GRANULES,
        .touched = touched};
    for (size_t i = 0; i < STRATA__MIXED_WORDS; i++) {
        unit->free_bits[i] = UINT64_MAX;
    }
}

static struct strata__mixed *unit_new(void)
{
    struct strata__mixed *unit = strata__metadata_take(sizeof(*unit));
    if (unit == NULL) {
        return NULL;
    }
    char *start = strata__units_take(1, 1);
    if (start == NULL) {
        strata__metadata_give(unit, sizeof(*unit));
        return NULL;
    }
    unit_init(unit, start, *strata__unitmap_touched(start));
    unit_add(unit);
    return unit;
}

/* Takes an empty unit off the books. */
static void retire(struct strata__mixed *unit)
{
    bin_remove(unit);
    unit_unlink(unit);
    strata__unitmap_set(unit->start, strata__entry(STRATA__KIND_UNUSED, NULL));
    mixed.units--;
    __atomic_store_n(&mixed.adopted, mixed.adopted - unit->adopted, __ATOMIC_RELAXED);
    mixed.empty_units--;
    mixed.free_granules -= STRATA__GRANULES;
    mixed.touched_pages -= (size_t)__builtin_popcount(unit->touched);
}

/* After retire, under the same lock, as a slab that has become empty (central.c). */
static void unit_delete(struct strata__mixed *unit)
{
    char *start = unit->start;
    *strata__unitmap_touched(start) = unit->touched;
    struct strata__span *span =
        strata__metadata_exchange(unit, sizeof(*unit), sizeof(*span));
    strata__units_give(span, start, 1);
}

/* The next free (or with `invert` set to all ones, used) granule from `at` on. */
static unsigned next_granule(const uint64_t *bits, unsigned at, uint64_t invert)
{
    unsigned word = at / WORD_BITS;
    if (word >= STRATA__MIXED_WORDS) {
        return STRATA__GRANULES;
    }
    uint64_t left = (bits[word] ^ invert) & UINT64_MAX << at % WORD_BITS;
    while (left == 0) {
        word++;
        if (word >= STRATA__MIXED_WORDS) {
            return STRATA__GRANULES;
        }
        left = bits[word] ^ invert;
    }
    return word * WORD_BITS + (unsigned)__builtin_ctzll(left);
}

/* Where the free run that contains `at` begins. */
static unsigned run_start(const uint64_t *bits, unsigned at)
{
    unsigned word = at / WORD_BITS;
    uint64_t used = ~bits[word] & ~(UINT64_MAX << at % WORD_BITS);
    while (used == 0) {
        if (word == 0) {
            return 0;
        }
        word--;
        used = ~bits[word];
    }
    return word * WORD_BITS + WORD_BITS - (unsigned)__builtin_clzll(used);
}

/* Flips the bits of a range that are all alike. */
static void flip(uint64_t *bits, unsigned first, unsigned end)
{
    unsigned word = first / WORD_BITS;
    unsigned last = (end - 1) / WORD_BITS;
    uint64_t mask = UINT64_MAX << first % WORD_BITS;
    for (; word < last; word++) {
        bits[word] ^= mask;
        mask = UINT64_MAX;
    }
    bits[last] ^= mask & UINT64_MAX >> (WORD_BITS - 1 - (end - 1) % WORD_BITS);
}

/* Bits of the pages that the granules of a range lie on. */
static uint16_t pages_of(unsigned first, unsigned end)
{
    return (uint16_t)((2U << (end - 1) / PAGE_GRANULES) - (1U << first / PAGE_GRANULES));
}

/* 0, or -ENOMEM when the limit forbids the pages that would be touched. */
static int hand_out(struct strata__mixed *unit, unsigned class, unsigned first,
    unsigned count, void **blocks)
{
    unsigned granules = granules_of(class);
    unsigned end = first + count * granules;
    uint16_t pages = pages_of(first, end);
    size_t more = (size_t)__builtin_popcount(pages & ~(unsigned)unit->touched);
    if (strata__limit_buy(more * PAGE_BYTES) != 0) {
        return -ENOMEM;
    }
    mixed.touched_pages += more;
    unit->touched |= pages;
    unit->idle &= (uint16_t)~pages;
    flip(unit->free_bits, first, end);
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
    mixed.empty_units -= got > 0 && unit->free_granules == STRATA__GRANULES;
    mixed.free_granules -= got * wish->granules;
    change_out(wish->class, got);
    unit->free_granules -= (uint16_t)(got * wish->granules);
}

/* Takes blocks out of one unit, first fit; what it learns on the way about the longest
 * run goes into the unit's bin. */
static size_t carve(
    struct strata__mixed *unit, struct wish *wish, void **blocks, size_t wanted)
{
    unsigned at = next_granule(unit->free_bits, unit->first, 0);
    unsigned longest = 0;
    unsigned left = STRATA__GRANULES; /* the first granule that stays free */
    size_t got = 0;
    while (at < STRATA__GRANULES && got < wanted && !wish->refused) {
        unsigned end = next_granule(unit->free_bits, at, UINT64_MAX);
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
        at = end == STRATA__GRANULES ? end : next_granule(unit->free_bits, end, 0);
    }
    count_out(unit, wish, got);
    unit->first = (uint16_t)(left < at ? left : at);
    if (at < STRATA__GRANULES) { /* the rest was not looked at */
        longest =
            unit->longest < unit->free_granules ? unit->longest : unit->free_granules;
    }
    set_longest(unit, longest);
    return got;
}

/* Where one block fits on pages that are touched already, or STRATA__GRANULES. Such a
 * stretch begins with a free run or with a page. */
static unsigned find_bought_in(const struct strata__mixed *unit, const struct wish *wish)
{
    unsigned at = next_granule(unit->free_bits, unit->first, 0);
    while (at < STRATA__GRANULES) {
        unsigned end = next_granule(unit->free_bits, at, UINT64_MAX);
        unsigned start = (at + wish->alignment - 1) & ~(wish->alignment - 1);
        while (start + wish->granules <= end) {
            if ((pages_of(start, start + wish->granules) & ~unit->touched) == 0) {
                return start;
            }
            start = (start / PAGE_GRANULES + 1) * PAGE_GRANULES;
        }
        at = end == STRATA__GRANULES ? end : next_granule(unit->free_bits, end, 0);
    }
    return at;
}

/* One block, when no page may be bought. */
static size_t find_bought(const struct wish *wish, void **blocks)
{
    for (struct strata__mixed *unit = mixed.first_unit; unit != NULL;
         unit = unit->next_unit) {
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
    unsigned bin = bin_of(granules);
    unsigned has = granules_of(bin + STRATA__SLAB_CLASSES);
    STRATA__BUG_IF(has < granules && bin + 1 == BINS);
    return UINT64_MAX << (bin + (has < granules));
}

size_t strata__mixed_refill(
    unsigned class, void **blocks, size_t wanted, size_t alignment, int may_grow)
{
    struct wish wish = {.class = class,
        .granules = granules_of(class),
        .alignment = alignment <= STRATA__GRANULE_BYTES
                         ? 1
                         : (unsigned)(alignment / STRATA__GRANULE_BYTES)};
    uint64_t enough = bins_for(&wish);
    size_t got = 0;
    strata__lock_take(&mixed.lock);
    while (got == 0 && !wish.refused) {
        uint64_t bins = mixed.filled & enough;
        struct strata__mixed *unit = bins != 0  ? mixed.bins[__builtin_ctzll(bins)]
                                     : may_grow ? unit_new()
                                                : NULL;
        if (unit == NULL) {
            break;
        }
        got = carve(unit, &wish, blocks, wanted);
    }
    if (wish.refused && got == 0) {
        got = find_bought(&wish, blocks);
    }
    publish(class);
    strata__lock_drop(&mixed.lock);
    return got;
}

/* Marks a block of a slab as one that is handed out. */
static void adopt_block(struct strata__mixed *unit, unsigned class, unsigned index)
{
    unsigned granules = granules_of(class);
    char *block = unit->start + (size_t)index * strata__block_classes[class].bytes;
    unit->cells[(uintptr_t)block / STRATA__CELL_BYTES % STRATA__CELLS] =
        strata__mixed_cell(class, (uintptr_t)block);
    flip(unit->free_bits, index * granules, (index + 1) * granules);
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
    unit_init(unit, start, touched);
    for (unsigned i = 0; i < blocks; i++) {
        if ((free_blocks[i / WORD_BITS] >> i % WORD_BITS & 1) == 0) {
            adopt_block(unit, class, i);
            out++;
        }
    }
    /* An upper bound; the first search makes it exact. */
    unit->longest = unit->free_granules;
    unit->adopted = 1;
    strata__lock_take(&mixed.lock);
    __atomic_store_n(&mixed.adopted, mixed.adopted + 1, __ATOMIC_RELAXED);
    change_out(class, out);
    unit_add(unit);
    publish(class);
    strata__lock_drop(&mixed.lock);
    return 0;
}

size_t strata__mixed_adopted(void)
{
    return __atomic_load_n(&mixed.adopted, __ATOMIC_RELAXED);
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
        int is_free =
            (int)(unit->free_bits[granule / WORD_BITS] >> granule % WORD_BITS & 1);
        strata__fatal(
            HEAP_NAME, is_free ? "double free" : "not the start of a block", address);
    }
    return unit;
}

static void give(struct strata__mixed *unit, unsigned class, const void *block)
{
    unsigned granules = granules_of(class);
    unsigned first =
        (unsigned)((const char *)block - unit->start) / STRATA__GRANULE_BYTES;
    flip(unit->free_bits, first, first + granules);
    unit->cells[(uintptr_t)block / STRATA__CELL_BYTES % STRATA__CELLS] = 0;
    unit->free_granules += (uint16_t)granules;
    mixed.free_granules += granules;
    change_out(class, (size_t)-1);
    if (unit->free_granules <= unit->longest) {
        unit->first = (uint16_t)(first < unit->first ? first : unit->first);
        return;
    }
    unsigned start = run_start(unit->free_bits, first);
    unsigned end = next_granule(unit->free_bits, first + granules, UINT64_MAX);
    unit->first = (uint16_t)(start < unit->first ? start : unit->first);
    if (end - start > unit->longest) {
        set_longest(unit, end - start);
    }
}

void strata__mixed_flush(unsigned class, void *const *blocks, size_t count)
{
    strata__lock_take(&mixed.lock);
    for (size_t i = 0; i < count; i++) {
        struct strata__mixed *unit = unit_at(class, blocks[i]);
        give(unit, class, blocks[i]);
        if (unit->free_granules == STRATA__GRANULES) {
            mixed.empty_units++;
            if (mixed.empty_units > 1) {
                retire(unit);
                unit_delete(unit);
            }
        }
    }
    publish(class);
    strata__lock_drop(&mixed.lock);
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
    mixed.touched_pages -= pages;
    mixed.purged_bytes += pages * PAGE_BYTES;
    strata__limit_return(pages * PAGE_BYTES);
    return pages * PAGE_BYTES;
}

/* Units that were looked at go to the end of the list, so that the lock can be dropped in
 * between. */
size_t strata__mixed_sweep(int now)
{
    size_t purged = 0;
    strata__lock_take(&mixed.lock);
    size_t left = mixed.units;
    for (size_t done = 1; left > 0 && mixed.first_unit != NULL; left--, done++) {
        struct strata__mixed *unit = mixed.first_unit;
        purged += sweep_unit(unit, now);
        if (unit->free_granules == STRATA__GRANULES && unit->touched == 0) {
            retire(unit);
            unit_delete(unit);
        } else {
            unit_unlink(unit);
            unit_link(unit);
        }
        if (done % SWEEP_UNITS == 0) {
            publish(STRATA__BLOCK_CLASSES);
            strata__lock_drop(&mixed.lock);
            strata__lock_take(&mixed.lock);
        }
    }
    publish(STRATA__BLOCK_CLASSES);
    strata__lock_drop(&mixed.lock);
    return purged;
}

void strata__mixed_publish(void)
{
    strata__lock_take(&mixed.lock);
    for (unsigned class = STRATA__SLAB_CLASSES; class < STRATA__WIDE_CLASS; class ++) {
        publish(class);
    }
    strata__lock_drop(&mixed.lock);
}

size_t strata__mixed_out_blocks(unsigned class)
{
    return class < STRATA__SLAB_CLASSES || class >= STRATA__WIDE_CLASS
               ? 0
               : __atomic_load_n(
                     &mixed.out_blocks[class - STRATA__SLAB_CLASSES], __ATOMIC_RELAXED);
}

void strata__mixed_get_stats(struct strata__mixed_stats *stats)
{
    strata__lock_take(&mixed.lock);
    *stats = (struct strata__mixed_stats){.units = mixed.units,
        .free_bytes = mixed.free_granules * STRATA__GRANULE_BYTES,
        .touched_bytes = mixed.touched_pages * PAGE_BYTES};
    strata__lock_drop(&mixed.lock);
}

/* A block begins at a granule: it is counted, and its end returned. */
static unsigned check_block(
    const struct strata__mixed *unit, unsigned at, size_t *out_blocks)
{
    const char *address = unit->start + at * STRATA__GRANULE_BYTES;
    unsigned class =
        strata__mixed_class(strata__entry(STRATA__KIND_MIXED, unit), address);
    STRATA__BUG_IF(class >= STRATA__WIDE_CLASS);
    unsigned end = at + granules_of(class);
    STRATA__BUG_IF(next_granule(unit->free_bits, at, 0) < end);
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
        unsigned end = next_granule(unit->free_bits, at, UINT64_MAX);
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
    STRATA__BUG_IF(bin_of(unit->longest) != unit->bin);
    STRATA__BUG_IF((unit->idle & ~unit->touched) != 0);
    STRATA__BUG_IF(
        strata__unitmap_get(unit->start) != strata__entry(STRATA__KIND_MIXED, unit));
}

void strata__mixed_check(void)
{
    size_t out_blocks[BINS] = {0};
    size_t units = 0;
    size_t empty = 0;
    size_t granules = 0;
    size_t pages = 0;
    strata__lock_take(&mixed.lock);
    for (const struct strata__mixed *unit = mixed.first_unit; unit != NULL;
         unit = unit->next_unit) {
        check_unit(unit, out_blocks);
        units++;
        empty += unit->free_granules == STRATA__GRANULES;
        granules += unit->free_granules;
        pages += (size_t)__builtin_popcount(unit->touched);
    }
    for (unsigned i = 0; i < BINS; i++) {
        STRATA__BUG_IF(out_blocks[i] != mixed.out_blocks[i]);
        STRATA__BUG_IF((mixed.bins[i] != NULL) != (mixed.filled >> i & 1));
    }
    STRATA__BUG_IF(units != mixed.units || granules != mixed.free_granules);
    STRATA__BUG_IF(pages != mixed.touched_pages || empty != mixed.empty_units);
    strata__lock_drop(&mixed.lock);
}

void strata__mixed_lock(void)
{
    strata__lock_take(&mixed.lock);
}

void strata__mixed_unlock(void)
{
    strata__lock_drop(&mixed.lock);
}

void strata__mixed_reset_lock(void)
{
    strata__lock_reset(&mixed.lock);
}
