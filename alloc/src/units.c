/*
 * The unit heap. It owns the regions and the free spans in them.
 *
 * A free span is clean (no page resident, reads as zeroes) or dirty (some page may be
 * resident). Neighbours always coalesce: kept apart by state, resident memory would be cut
 * into pieces too short for large blocks (measured: docs/decisions). Bins by length, best
 * fit first, dirty spans before clean ones: what is resident is used again before the
 * kernel is asked for more. Dirty spans also are on a list by time, for the purge, which
 * takes the high end of a span first, as requests are served from the low end.
 *
 * Which pages may be resident is known from the touched bits in the address map, which
 * whoever owns a unit sets before the pages are written. They are an upper bound: a page
 * that was handed out and never written counts.
 *
 * One lock. Nothing but metadata and the system is called under it; pages are purged
 * outside of it, with the span in nobody's list. A child of fork would never see such a
 * span again, nor would the books close: fork waits for purges to end.
 */
#include "units.h"

#include <errno.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "limit.h"
#include "lock.h"
#include "metadata.h"
#include "os.h"
#include "pagesize.h"
#include "region.h"

#define REGION_LEAST_BYTES ((size_t)512 << 10)
#define REGION_MOST_BYTES ((size_t)32 << 20)
#define EXACT_BINS 32U
#define BINS 64U
#define BIN_SCAN_MAX 16
/* What is kept warm beyond the recent peak of use: a quarter. Above that, some more goes
 * at once. */
#define SLACK_SHARE 4
#define SLACK_LEAST_BYTES ((size_t)256 << 10)
#define PURGE_SHARE 4
/* Fork waits no longer than a second: a child that no handler of fork knows of may have
 * inherited a purge that never ends. */
#define FORK_PAUSE_NS 50000
#define FORK_PAUSES 20000
#define UNITS_MAX (((size_t)1 << (STRATA__ADDRESS_BITS - STRATA__UNIT_BITS)) - 1)

struct bins {
    uint64_t filled; /* bit for each bin that has a span */
    struct strata__span *heads[BINS];
};

static struct {
    struct strata__lock lock;
    struct bins clean, dirty;
    struct strata__span *oldest, *newest; /* dirty spans */
    uint32_t epoch;
    uint32_t purges;   /* spans that a thread has taken from the lists to purge them */
    size_t peak_bytes; /* most that was resident outside of spans since the epoch */
    size_t old_peak_bytes; /* began, and in the epoch before */
    struct strata__units_stats stats;
} heap;

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

/* Under the lock, but units_used_bytes and units_dirty_bytes read without it. */
/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void change(size_t *counter, size_t by)
{
    __atomic_store_n(counter, *counter + by, __ATOMIC_RELAXED);
}

/* Under the lock, when it has changed something. */
static void publish(void)
{
    struct strata_layout_units *shown = &strata__shared.region.units;
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    strata__region_set(&shown->mapped_bytes, heap.stats.mapped_bytes);
    strata__region_set(&shown->free_bytes, heap.stats.free_bytes);
    strata__region_set(&shown->dirty_bytes, heap.stats.dirty_bytes);
    strata__region_set(&shown->peak_used_bytes, heap.stats.peak_used_bytes);
    strata__region_set(&shown->purged_bytes, heap.stats.purged_bytes);
    strata__region_end(&shown->sequence);
}

/* What is held outside of free spans: of blocks, of slabs, descriptors. Noted whenever
 * some of it is given back. */
static size_t note_resident(void)
{
    size_t held = strata__limit_held();
    size_t resident = held > heap.stats.dirty_bytes ? held - heap.stats.dirty_bytes : 0;
    heap.peak_bytes = resident > heap.peak_bytes ? resident : heap.peak_bytes;
    return resident;
}

static size_t touched_pages(const char *start, size_t units)
{
    size_t pages = 0;
    for (size_t i = 0; i < units; i++) {
        pages += (size_t)__builtin_popcount(
            *strata__unitmap_touched(start + i * STRATA__UNIT_BYTES));
    }
    return pages;
}

static int any_touched(const char *start, size_t units)
{
    for (size_t i = 0; i < units; i++) {
        if (*strata__unitmap_touched(start + i * STRATA__UNIT_BYTES) != 0) {
            return 1;
        }
    }
    return 0;
}

static void mark_ends(const struct strata__span *span, uint64_t entry)
{
    strata__unitmap_set(span->start, entry);
    strata__unitmap_set(
        span->start + ((size_t)span->units - 1) * STRATA__UNIT_BYTES, entry);
}

static void link_dirty(struct strata__span *span)
{
    span->next_dirty = NULL;
    span->previous_dirty = heap.newest;
    if (heap.newest != NULL) {
        heap.newest->next_dirty = span;
    } else {
        heap.oldest = span;
    }
    heap.newest = span;
}

static void unlink_dirty(struct strata__span *span)
{
    if (span->previous_dirty != NULL) {
        span->previous_dirty->next_dirty = span->next_dirty;
    } else {
        heap.oldest = span->next_dirty;
    }
    if (span->next_dirty != NULL) {
        span->next_dirty->previous_dirty = span->previous_dirty;
    } else {
        heap.newest = span->previous_dirty;
    }
}

static void link_span(struct strata__span *span)
{
    struct bins *bins = span->dirty ? &heap.dirty : &heap.clean;
    span->bin = (uint8_t)bin_of(span->units);
    span->previous = NULL;
    span->next = bins->heads[span->bin];
    if (span->next != NULL) {
        span->next->previous = span;
    }
    bins->heads[span->bin] = span;
    bins->filled |= UINT64_C(1) << span->bin;
    if (span->dirty) {
        link_dirty(span);
    }
    change(&heap.stats.free_bytes, span->units * STRATA__UNIT_BYTES);
    mark_ends(span, strata__entry(STRATA__KIND_FREE, span));
}

static void unlink_span(struct strata__span *span)
{
    struct bins *bins = span->dirty ? &heap.dirty : &heap.clean;
    if (span->previous != NULL) {
        span->previous->next = span->next;
    } else {
        bins->heads[span->bin] = span->next;
        if (span->next == NULL) {
            bins->filled &= ~(UINT64_C(1) << span->bin);
        }
    }
    if (span->next != NULL) {
        span->next->previous = span->previous;
    }
    if (span->dirty) {
        unlink_dirty(span);
    }
    change(&heap.stats.free_bytes, -(span->units * STRATA__UNIT_BYTES));
    mark_ends(span, strata__entry(STRATA__KIND_UNUSED, NULL));
}

static struct strata__span *free_span_at(const char *address)
{
    uint64_t entry = strata__unitmap_get(address);
    return strata__entry_kind(entry) == STRATA__KIND_FREE ? strata__entry_pointer(entry)
                                                          : NULL;
}

/* Joins the span, which is on no list, with its free neighbours and puts it on. */
static void insert(struct strata__span *span)
{
    struct strata__span *before = free_span_at(span->start - STRATA__UNIT_BYTES);
    if (before != NULL) {
        unlink_span(before);
        span->dirty |= before->dirty;
        span->start = before->start;
        span->units += before->units;
        strata__metadata_give(before, sizeof(*before));
    }
    struct strata__span *behind =
        free_span_at(span->start + span->units * STRATA__UNIT_BYTES);
    if (behind != NULL) {
        unlink_span(behind);
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
    struct strata__span *head, size_t units, size_t alignment_units)
{
    struct strata__span *best = NULL;
    int scanned = 0;
    for (struct strata__span *span = head; span != NULL; span = span->next) {
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
        struct strata__span *span = find_in_bin(bins->heads[bin], units, alignment_units);
        if (span != NULL) {
            return span;
        }
        left &= left - 1;
    }
    return NULL;
}

/* The span may change it: NOLINTNEXTLINE(readability-non-const-parameter) */
static void span_init(struct strata__span *span, char *start, size_t units)
{
    *span = (struct strata__span){
        .start = start, .units = (uint32_t)units, .epoch = heap.epoch};
}

static struct strata__span *span_new(char *start, size_t units)
{
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    if (span != NULL) {
        span_init(span, start, units);
    }
    return span;
}

/* What is left of a span after a part was taken. It keeps its epoch. */
static void put_rest(struct strata__span *span, uint8_t was_dirty)
{
    span->dirty = was_dirty && any_touched(span->start, span->units);
    link_span(span);
}

/* Cuts `units` at `start` out of a span on the lists. Fails only when the span falls in
 * two and there is no descriptor for the second part. */
static int carve(struct strata__span *span, char *start, size_t units)
{
    size_t before = (size_t)(start - span->start) >> STRATA__UNIT_BITS;
    size_t behind = span->units - before - units;
    struct strata__span *second = NULL;
    if (before > 0 && behind > 0) {
        second = span_new(start + units * STRATA__UNIT_BYTES, behind);
        if (second == NULL) {
            return -ENOMEM;
        }
        second->epoch = span->epoch;
    }
    uint8_t was_dirty = span->dirty;
    unlink_span(span);
    if (was_dirty) {
        change(
            &heap.stats.dirty_bytes, -(touched_pages(start, units) * STRATA__PAGE_BYTES));
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
    size_t used = strata__units_used_bytes();
    heap.stats.peak_used_bytes =
        used > heap.stats.peak_used_bytes ? used : heap.stats.peak_used_bytes;
    return 0;
}

/* Half as much as there is, so that a small program stays within a limit on its address
 * space (RLIMIT_AS), and leaves some of it to others; less if the system refuses that. */
static int add_region(size_t units)
{
    size_t least = units * STRATA__UNIT_BYTES;
    size_t bytes = (heap.stats.mapped_bytes / 2) & ~(STRATA__UNIT_BYTES - 1);
    bytes = bytes < REGION_LEAST_BYTES ? REGION_LEAST_BYTES : bytes;
    bytes = bytes > REGION_MOST_BYTES ? REGION_MOST_BYTES : bytes;
    bytes = bytes < least ? least : bytes;
    char *start = NULL;
    while (
        (start = strata__os->map(bytes, STRATA__UNIT_BYTES)) == NULL && bytes > least) {
        bytes = bytes / 2 > least ? bytes / 2 : least;
        bytes &= ~(STRATA__UNIT_BYTES - 1);
    }
    if (start == NULL) {
        return -ENOMEM;
    }
    struct strata__span *span = NULL;
    if (strata__unitmap_cover(start, bytes) != 0 ||
        (span = span_new(start, bytes >> STRATA__UNIT_BITS)) == NULL) {
        strata__os->unmap(start, bytes);
        return -ENOMEM;
    }
    for (size_t i = 0; i < span->units; i++) {
        strata__unitmap_set(
            start + i * STRATA__UNIT_BYTES, strata__entry(STRATA__KIND_UNUSED, NULL));
    }
    change(&heap.stats.mapped_bytes, bytes);
    strata__region_add_place(start, bytes, STRATA_PLACE_REGION);
    insert(span);
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
    return touched_pages(high, units) > touched_pages(low, units) ? high : low;
}

static char *take_locked(size_t units, size_t alignment_units)
{
    struct strata__span *span = find(&heap.dirty, units, alignment_units);
    if (span == NULL) {
        span = find(&heap.clean, units, alignment_units);
    }
    if (span == NULL) {
        return NULL;
    }
    char *start = warmest(span, units, alignment_units);
    return carve(span, start, units) == 0 ? start : NULL;
}

char *strata__units_take(size_t units, size_t alignment_units)
{
    size_t slack = alignment_units - 1;
    if (units > UNITS_MAX - slack) {
        return NULL;
    }
    strata__lock_take(&heap.lock);
    char *start = take_locked(units, alignment_units);
    if (start == NULL && add_region(units + slack) == 0) {
        start = take_locked(units, alignment_units);
    }
    publish();
    strata__lock_drop(&heap.lock);
    return start;
}

int strata__units_extend(char *start, size_t units, size_t extra)
{
    char *end = start + units * STRATA__UNIT_BYTES;
    strata__lock_take(&heap.lock);
    struct strata__span *span = free_span_at(end);
    int failed = -ENOMEM;
    if (span != NULL && span->start == end && span->units >= extra) {
        failed = carve(span, end, extra);
    }
    publish();
    strata__lock_drop(&heap.lock);
    return failed;
}

void strata__units_give(struct strata__span *span, char *start, size_t units)
{
    strata__lock_take(&heap.lock);
    span_init(span, start, units);
    (void)note_resident();
    size_t pages = touched_pages(start, units);
    span->dirty = pages > 0;
    change(&heap.stats.dirty_bytes, pages * STRATA__PAGE_BYTES);
    insert(span);
    publish();
    strata__lock_drop(&heap.lock);
}

/* Gives back at least `wanted_bytes` of the span's pages if it has them, from its high end
 * on. The span is on no list and its ends are not marked, so nobody else can reach it. */
static size_t purge_span(const struct strata__span *span, size_t wanted_bytes)
{
    size_t first = span->units;
    size_t bytes = 0;
    while (first > 0 && bytes < wanted_bytes) {
        first--;
        bytes += STRATA__PAGE_BYTES * (size_t)__builtin_popcount(*strata__unitmap_touched(
                                          span->start + first * STRATA__UNIT_BYTES));
    }
    char *start = span->start + first * STRATA__UNIT_BYTES;
    size_t units = span->units - first;
    if (strata__os->purge(start, units * STRATA__UNIT_BYTES) != 0) {
        return 0; /* locked in memory by mlockall: it stays dirty */
    }
    for (size_t i = 0; i < units; i++) {
        *strata__unitmap_touched(start + i * STRATA__UNIT_BYTES) = 0;
    }
    strata__limit_return(bytes);
    return bytes;
}

size_t strata__units_purge(uint32_t epoch, size_t keep_bytes)
{
    size_t purged = 0;
    for (;;) {
        strata__lock_take(&heap.lock);
        struct strata__span *span = heap.oldest;
        size_t dirty_bytes = heap.stats.dirty_bytes;
        if (span == NULL || span->epoch > epoch || dirty_bytes <= keep_bytes) {
            strata__lock_drop(&heap.lock);
            return purged;
        }
        unlink_span(span);
        heap.purges++;
        publish();
        strata__lock_drop(&heap.lock);
        size_t bytes = purge_span(span, dirty_bytes - keep_bytes);
        strata__lock_take(&heap.lock);
        heap.purges--;
        change(&heap.stats.dirty_bytes, -bytes);
        heap.stats.purged_bytes += bytes;
        span->dirty = any_touched(span->start, span->units) != 0;
        insert(span);
        publish();
        strata__lock_drop(&heap.lock);
        if (bytes == 0) {
            return purged;
        }
        purged += bytes;
    }
}

uint16_t strata__units_purge_pages(char *start, unsigned pages)
{
    unsigned purged = 0;
    while (pages != 0) {
        unsigned first = (unsigned)__builtin_ctz(pages);
        unsigned count = (unsigned)__builtin_ctz(~(pages >> first));
        unsigned run = ((1U << count) - 1) << first;
        if (strata__os->purge(
                start + first * STRATA__PAGE_BYTES, count * STRATA__PAGE_BYTES) == 0) {
            purged |= run;
        }
        pages &= ~run;
    }
    return (uint16_t)purged;
}

void strata__units_keep_within_bounds(void)
{
    strata__lock_take(&heap.lock);
    size_t resident = note_resident();
    size_t peak =
        heap.peak_bytes > heap.old_peak_bytes ? heap.peak_bytes : heap.old_peak_bytes;
    size_t bound = peak + peak / SLACK_SHARE;
    size_t keep =
        bound > resident + SLACK_LEAST_BYTES ? bound - resident : SLACK_LEAST_BYTES;
    size_t dirty = heap.stats.dirty_bytes;
    strata__lock_drop(&heap.lock);
    if (dirty > keep) {
        strata__units_purge(UINT32_MAX, keep - keep / PURGE_SHARE);
    }
}

void strata__units_set_epoch(uint32_t epoch)
{
    strata__lock_take(&heap.lock);
    heap.epoch = epoch;
    heap.old_peak_bytes = heap.peak_bytes;
    heap.peak_bytes = 0;
    (void)note_resident();
    strata__lock_drop(&heap.lock);
}

size_t strata__units_mapped_bytes(void)
{
    return __atomic_load_n(&heap.stats.mapped_bytes, __ATOMIC_RELAXED);
}

size_t strata__units_used_bytes(void)
{
    return __atomic_load_n(&heap.stats.mapped_bytes, __ATOMIC_RELAXED) -
           __atomic_load_n(&heap.stats.free_bytes, __ATOMIC_RELAXED);
}

void strata__units_publish(void)
{
    strata__lock_take(&heap.lock);
    publish();
    strata__lock_drop(&heap.lock);
}

void strata__units_reset_peak(void)
{
    strata__lock_take(&heap.lock);
    heap.stats.peak_used_bytes = strata__units_used_bytes();
    publish();
    strata__lock_drop(&heap.lock);
}

size_t strata__units_dirty_bytes(void)
{
    return __atomic_load_n(&heap.stats.dirty_bytes, __ATOMIC_RELAXED);
}

void strata__units_get_stats(struct strata__units_stats *stats)
{
    strata__lock_take(&heap.lock);
    *stats = heap.stats;
    strata__lock_drop(&heap.lock);
}

static void check_span(const struct strata__span *span, size_t dirty_bytes)
{
    STRATA__BUG_IF(bin_of(span->units) != span->bin);
    STRATA__BUG_IF((dirty_bytes > 0) != span->dirty);
    STRATA__BUG_IF(free_span_at(span->start) != span);
    STRATA__BUG_IF(span->next != NULL && span->next->previous != span);
}

static void check_bin(
    const struct bins *bins, unsigned bin, struct strata__units_stats *found)
{
    const struct strata__span *span = bins->heads[bin];
    STRATA__BUG_IF((span != NULL) != (bins->filled >> bin & 1));
    for (; span != NULL; span = span->next) {
        size_t dirty_bytes = touched_pages(span->start, span->units) * STRATA__PAGE_BYTES;
        STRATA__BUG_IF(span->bin != bin);
        check_span(span, dirty_bytes);
        found->free_bytes += span->units * STRATA__UNIT_BYTES;
        found->dirty_bytes += dirty_bytes;
    }
}

static void check_bins(const struct bins *bins, struct strata__units_stats *found)
{
    for (unsigned bin = 0; bin < BINS; bin++) {
        check_bin(bins, bin, found);
    }
}

static void take_between_purges(void)
{
    const struct timespec pause = {.tv_nsec = FORK_PAUSE_NS};
    int saved = errno;
    strata__lock_take(&heap.lock);
    for (unsigned i = 0; heap.purges > 0 && i < FORK_PAUSES; i++) {
        strata__lock_drop(&heap.lock);
        (void)syscall(SYS_nanosleep, &pause, NULL); /* no place to be cancelled */
        strata__lock_take(&heap.lock);
    }
    errno = saved;
}

void strata__units_check(void)
{
    struct strata__units_stats found = {0};
    take_between_purges();
    check_bins(&heap.clean, &found);
    check_bins(&heap.dirty, &found);
    STRATA__BUG_IF(found.free_bytes != heap.stats.free_bytes);
    STRATA__BUG_IF(found.dirty_bytes != heap.stats.dirty_bytes);
    strata__lock_drop(&heap.lock);
}

void strata__units_lock(void)
{
    take_between_purges();
}

void strata__units_unlock(void)
{
    strata__lock_drop(&heap.lock);
}

void strata__units_reset_lock(void)
{
    heap.purges = 0;
    strata__lock_reset(&heap.lock);
}
