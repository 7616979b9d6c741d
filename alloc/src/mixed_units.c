/*
 * Which mixed units there are, and in which bin each is: by its longest free run, as the
 * largest class that fits into it. The bin is an upper bound, made exact by every search
 * that reaches the end of the unit (mixed.c).
 */
#include "mixed_units.h"

#include "metadata.h"
#include "units.h"

_Static_assert(
    STRATA__MIXED_BINS < 64, "a bit for each bin, and six bits of a cell for each class");
_Static_assert(sizeof(struct strata__mixed) <= STRATA__METADATA_MAX, "a descriptor");

struct strata__mixed_units strata__mixed_units = {
    .all = TAILQ_HEAD_INITIALIZER(strata__mixed_units.all)};

unsigned strata__mixed_bin_of(unsigned granules)
{
    size_t bytes = granules * STRATA__GRANULE_BYTES;
    if (bytes >= STRATA__BLOCK_MAX) {
        return STRATA__MIXED_BINS - 1;
    }
    if (bytes < STRATA__CELL_BYTES) {
        return STRATA__MIXED_NO_BIN;
    }
    unsigned class = strata__block_class_of(bytes);
    class -= strata__block_classes[class].bytes > bytes;
    return class - STRATA__SLAB_CLASSES;
}

static void bin_add(struct strata__mixed *unit)
{
    unit->bin = (uint8_t)strata__mixed_bin_of(unit->longest);
    if (unit->bin != STRATA__MIXED_NO_BIN) {
        LIST_INSERT_HEAD(&strata__mixed_units.bins[unit->bin], unit, in_bin);
        strata__mixed_units.filled |= UINT64_C(1) << unit->bin;
    }
}

static void bin_remove(struct strata__mixed *unit)
{
    if (unit->bin == STRATA__MIXED_NO_BIN) {
        return;
    }
    LIST_REMOVE(unit, in_bin);
    if (LIST_EMPTY(&strata__mixed_units.bins[unit->bin])) {
        strata__mixed_units.filled &= ~(UINT64_C(1) << unit->bin);
    }
}

void strata__mixed_rebin(struct strata__mixed *unit)
{
    bin_remove(unit);
    bin_add(unit);
}

void strata__mixed_unit_put_last(struct strata__mixed *unit)
{
    TAILQ_REMOVE(&strata__mixed_units.all, unit, in_all);
    TAILQ_INSERT_TAIL(&strata__mixed_units.all, unit, in_all);
}

void strata__mixed_unit_add(struct strata__mixed *unit)
{
    strata__mixed_units.count++;
    strata__mixed_units.empty_units += unit->free_granules == STRATA__GRANULES;
    strata__mixed_units.free_granules += unit->free_granules;
    strata__mixed_units.touched_pages += (size_t)__builtin_popcount(unit->touched);
    TAILQ_INSERT_TAIL(&strata__mixed_units.all, unit, in_all);
    bin_add(unit);
    strata__unitmap_set(unit->start, strata__entry(STRATA__KIND_MIXED, unit));
}

/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
void strata__mixed_unit_init(struct strata__mixed *unit, char *start, uint16_t touched)
{
    *unit = (struct strata__mixed){.start = start,
        .free_granules = STRATA__GRANULES,
        .longest = STRATA__GRANULES,
        .touched = touched};
    for (size_t i = 0; i < STRATA__GRANULE_WORDS; i++) {
        unit->free_bits[i] = UINT64_MAX;
    }
}

struct strata__mixed *strata__mixed_unit_new(void)
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
    strata__mixed_unit_init(unit, start, *strata__unitmap_touched(start));
    strata__mixed_unit_add(unit);
    return unit;
}

/* Takes an empty unit off the books. */
static void retire(struct strata__mixed *unit)
{
    bin_remove(unit);
    TAILQ_REMOVE(&strata__mixed_units.all, unit, in_all);
    strata__unitmap_set(unit->start, strata__entry(STRATA__KIND_UNUSED, NULL));
    strata__mixed_units.count--;
    __atomic_store_n(&strata__mixed_units.adopted,
        strata__mixed_units.adopted - unit->adopted, __ATOMIC_RELAXED);
    strata__mixed_units.empty_units--;
    strata__mixed_units.free_granules -= STRATA__GRANULES;
    strata__mixed_units.touched_pages -= (size_t)__builtin_popcount(unit->touched);
}

/* After retire and under the same lock, as with a slab that has become empty (central.c). */
static void unit_delete(struct strata__mixed *unit)
{
    char *start = unit->start;
    *strata__unitmap_touched(start) = unit->touched;
    struct strata__span *span =
        strata__metadata_exchange(unit, sizeof(*unit), sizeof(*span));
    strata__units_give(span, start, 1);
}

void strata__mixed_unit_give_back(struct strata__mixed *unit)
{
    retire(unit);
    unit_delete(unit);
}
