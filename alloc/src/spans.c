/*
 * A free span is clean (no page resident, reads as zeroes) or dirty (some page may be
 * resident). Neighbours always coalesce: kept apart by state, resident memory would be cut
 * into pieces too short for large blocks (measured: docs/decisions). Bins by length, best
 * fit first, dirty spans before clean ones: what is resident is used again before the
 * kernel is asked for more. Dirty spans also are on a list by time, for the purge.
 *
 * The first and the last unit of a span are marked in the address map.
 */
#include "spans.h"

#include <errno.h>

#include "metadata.h"
#include "os.h"
#include "pagesize.h"
#include "unitmap.h"

#define EXACT_BINS 32U
#define BINS 64U
#define BIN_SCAN_MAX 16

struct bins {
    uint64_t filled; /* bit for each bin that has a span */
    struct strata__span_list heads[BINS];
};

static struct {
    struct bins clean, dirty;
    TAILQ_HEAD(, strata__span) by_time; /* dirty spans, the oldest first */
    size_t free_bytes, dirty_bytes;
} spans = {.by_time = TAILQ_HEAD_INITIALIZER(spans.by_time)};

/* Lengths up to 32 have a bin each, then two for each doubling; the last takes the rest. */
static unsigned bin_of(size_t units)
{
    if (units <= 1) {
        return 0;
    }
    if (units <= EXACT_BINS) {
        return (unsigned)units - 1;
    }
    unsigned doubling = 63U - (unsigned)__builtin_clzll(units);
    unsigned half = (unsigned)(units >> (doubling - 1) & 1);
    unsigned bin = EXACT_BINS + (doubling - 5) * 2 + half;
    return bin < BINS ? bin : BINS - 1;
}

/* Under the lock, but the two figures are read without it. */
/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void change(size_t *counter, size_t by)
{
    __atomic_store_n(counter, *counter + by, __ATOMIC_RELAXED);
}

static void mark_ends(const struct strata__span *span, uint64_t entry)
{
    strata__unitmap_set(span->start, entry);
    strata__unitmap_set(
        span->start + ((size_t)span->units - 1) * STRATA__UNIT_BYTES, entry);
}

static void link_span(struct strata__span *span)
{
    struct bins *bins = span->dirty ? &spans.dirty : &spans.clean;
    span->bin = (uint8_t)bin_of(span->units);
    LIST_INSERT_HEAD(&bins->heads[span->bin], span, list);
    bins->filled |= UINT64_C(1) << span->bin;
    if (span->dirty) {
        TAILQ_INSERT_TAIL(&spans.by_time, span, by_time);
    }
    change(&spans.free_bytes, span->units * STRATA__UNIT_BYTES);
    mark_ends(span, strata__entry(STRATA__KIND_FREE, span));
}

void strata__spans_unlink(struct strata__span *span)
{
    struct bins *bins = span->dirty ? &spans.dirty : &spans.clean;
    LIST_REMOVE(span, list);
    if (LIST_EMPTY(&bins->heads[span->bin])) {
        bins->filled &= ~(UINT64_C(1) << span->bin);
    }
    if (span->dirty) {
        TAILQ_REMOVE(&spans.by_time, span, by_time);
    }
    change(&spans.free_bytes, -(span->units * STRATA__UNIT_BYTES));
    mark_ends(span, strata__entry(STRATA__KIND_UNUSED, NULL));
}

struct strata__span *strata__spans_at(const char *address)
{
    uint64_t entry = strata__unitmap_get(address);
    return strata__entry_kind(entry) == STRATA__KIND_FREE ? strata__entry_pointer(entry)
                                                          : NULL;
}

void strata__spans_insert(struct strata__span *span)
{
    struct strata__span *before = strata__spans_at(span->start - STRATA__UNIT_BYTES);
    if (before != NULL) {
        strata__spans_unlink(before);
        span->dirty |= before->dirty;
        span->start = before->start;
        span->units += before->units;
        strata__metadata_give(before, sizeof(*before));
    }
    struct strata__span *behind =
        strata__spans_at(span->start + span->units * STRATA__UNIT_BYTES);
    if (behind != NULL) {
        strata__spans_unlink(behind);
        span->dirty |= behind->dirty;
        span->units += behind->units;
        strata__metadata_give(behind, sizeof(*behind));
    }
    link_span(span);
}

/* The wanted units of a span that begin on the alignment, or NULL if it is too short. */
static char *fit(const struct strata__span *span, size_t units, size_t alignment_units)
{
    uintptr_t alignment = alignment_units * STRATA__UNIT_BYTES;
    uintptr_t start = ((uintptr_t)span->start + alignment - 1) & ~(alignment - 1);
    size_t skipped = (start - (uintptr_t)span->start) >> STRATA__UNIT_BITS;
    return skipped + units <= span->units
               ? (char *)span->start + skipped * STRATA__UNIT_BYTES
               : NULL;
}

/* The shortest span that fits, but no more than a few of a bin are looked at: in the bins
 * of ranges a longer one does as well. */
static struct strata__span *find_in_bin(
    const struct strata__span_list *list, size_t units, size_t alignment_units)
{
    struct strata__span *best = NULL;
    struct strata__span *span = NULL;
    int scanned = 0;
    LIST_FOREACH (span, list, list) {
        if (fit(span, units, alignment_units) != NULL &&
            (best == NULL || span->units < best->units)) {
            best = span;
        }
        scanned++;
        if (best != NULL && scanned >= BIN_SCAN_MAX) {
            break;
        }
    }
    return best;
}

static struct strata__span *find(
    const struct bins *bins, size_t units, size_t alignment_units)
{
    uint64_t left = bins->filled & ~((UINT64_C(1) << bin_of(units)) - 1);
    while (left != 0) {
        unsigned bin = (unsigned)__builtin_ctzll(left);
        struct strata__span *span =
            find_in_bin(&bins->heads[bin], units, alignment_units);
        if (span != NULL) {
            return span;
        }
        left &= left - 1;
    }
    return NULL;
}

void strata__span_init(
    /* The span may change it: NOLINTNEXTLINE(readability-non-const-parameter) */
    struct strata__span *span, char *start, size_t units, uint32_t epoch)
{
    *span =
        (struct strata__span){.start = start, .units = (uint32_t)units, .epoch = epoch};
}

struct strata__span *strata__span_new(char *start, size_t units, uint32_t epoch)
{
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    if (span != NULL) {
        strata__span_init(span, start, units, epoch);
    }
    return span;
}

/* What is left of a span after a part was taken. It keeps its epoch. */
static void put_rest(struct strata__span *span, uint8_t was_dirty)
{
    span->dirty = was_dirty && strata__unitmap_any_touched(span->start, span->units);
    link_span(span);
}

int strata__spans_carve(struct strata__span *span, char *start, size_t units)
{
    size_t before = (size_t)(start - span->start) >> STRATA__UNIT_BITS;
    size_t behind = span->units - before - units;
    struct strata__span *second = NULL;
    if (before > 0 && behind > 0) {
        second =
            strata__span_new(start + units * STRATA__UNIT_BYTES, behind, span->epoch);
        if (second == NULL) {
            return -ENOMEM;
        }
    }
    uint8_t was_dirty = span->dirty;
    strata__spans_unlink(span);
    if (was_dirty) {
        change(&spans.dirty_bytes,
            -(strata__unitmap_touched_pages(start, units) * STRATA__PAGE_BYTES));
    }
    if (second != NULL) {
        put_rest(second, was_dirty);
    }
    if (before > 0) {
        span->units = (uint32_t)before;
        put_rest(span, was_dirty);
    } else if (behind > 0) {
        span->start = start + units * STRATA__UNIT_BYTES;
        span->units = (uint32_t)behind;
        put_rest(span, was_dirty);
    } else {
        strata__metadata_give(span, sizeof(*span));
    }
    return 0;
}

/* Of both ends of a span the one of which more is resident; the low one if it is all the
 * same. */
static char *warmest(
    const struct strata__span *span, size_t units, size_t alignment_units)
{
    char *low = fit(span, units, alignment_units);
    char *high = span->start + (span->units - units) * STRATA__UNIT_BYTES;
    if (!span->dirty || alignment_units > 1 || high == low) {
        return low;
    }
    return strata__unitmap_touched_pages(high, units) >
                   strata__unitmap_touched_pages(low, units)
               ? high
               : low;
}

char *strata__spans_take(size_t units, size_t alignment_units)
{
    struct strata__span *span = find(&spans.dirty, units, alignment_units);
    if (span == NULL) {
        span = find(&spans.clean, units, alignment_units);
    }
    if (span == NULL) {
        return NULL;
    }
    char *start = warmest(span, units, alignment_units);
    return strata__spans_carve(span, start, units) == 0 ? start : NULL;
}

struct strata__span *strata__spans_oldest(void)
{
    return TAILQ_FIRST(&spans.by_time);
}

void strata__spans_add_dirty(size_t bytes)
{
    change(&spans.dirty_bytes, bytes);
}

size_t strata__spans_free_bytes(void)
{
    return __atomic_load_n(&spans.free_bytes, __ATOMIC_RELAXED);
}

size_t strata__spans_dirty_bytes(void)
{
    return __atomic_load_n(&spans.dirty_bytes, __ATOMIC_RELAXED);
}

struct found {
    size_t free_bytes, dirty_bytes;
};

static void check_span(const struct strata__span *span, size_t dirty_bytes)
{
    STRATA__BUG_IF(bin_of(span->units) != span->bin);
    STRATA__BUG_IF((dirty_bytes > 0) != span->dirty);
    STRATA__BUG_IF(strata__spans_at(span->start) != span);
    STRATA__BUG_IF(*span->list.le_prev != span);
}

static void check_bin(const struct bins *bins, unsigned bin, struct found *found)
{
    const struct strata__span *span = NULL;
    STRATA__BUG_IF(LIST_EMPTY(&bins->heads[bin]) == (bins->filled >> bin & 1));
    LIST_FOREACH (span, &bins->heads[bin], list) {
        size_t dirty_bytes =
            strata__unitmap_touched_pages(span->start, span->units) * STRATA__PAGE_BYTES;
        STRATA__BUG_IF(span->bin != bin);
        check_span(span, dirty_bytes);
        found->free_bytes += span->units * STRATA__UNIT_BYTES;
        found->dirty_bytes += dirty_bytes;
    }
}

static void check_bins(const struct bins *bins, struct found *found)
{
    for (unsigned bin = 0; bin < BINS; bin++) {
        check_bin(bins, bin, found);
    }
}

void strata__spans_check(void)
{
    struct found found = {0};
    check_bins(&spans.clean, &found);
    check_bins(&spans.dirty, &found);
    STRATA__BUG_IF(found.free_bytes != spans.free_bytes);
    STRATA__BUG_IF(found.dirty_bytes != spans.dirty_bytes);
}
