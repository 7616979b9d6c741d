/*
 * The unit heap. It owns the regions, and decides when free spans in them (spans.c) give
 * their pages back: those freed first go first, each from its high end on, as requests are
 * served from the low end.
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
#include "os.h"
#include "pagesize.h"
#include "region.h"

#define REGION_LEAST_BYTES ((size_t)512 << 10)
#define REGION_MOST_BYTES ((size_t)32 << 20)
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

static struct {
    struct strata__lock lock;
    uint32_t epoch;
    uint32_t purges;   /* spans that a thread has taken from the lists to purge them */
    size_t peak_bytes; /* most that was resident outside of spans since the epoch */
    size_t old_peak_bytes; /* began, and in the epoch before */
    size_t mapped_bytes;
    size_t peak_used_bytes;
    size_t purged_bytes;
} heap;

/* Under the lock, when it has changed something. */
static void publish(void)
{
    struct strata_layout_units *shown = &strata__shared.region.units;
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    strata__region_set(&shown->mapped_bytes, heap.mapped_bytes);
    strata__region_set(&shown->free_bytes, strata__spans_free_bytes());
    strata__region_set(&shown->dirty_bytes, strata__spans_dirty_bytes());
    strata__region_set(&shown->peak_used_bytes, heap.peak_used_bytes);
    strata__region_set(&shown->purged_bytes, heap.purged_bytes);
    strata__region_end(&shown->sequence);
}

/* What is held outside of free spans: of blocks, of slabs, descriptors. Noted whenever
 * some of it is given back. */
static size_t note_resident(void)
{
    size_t held = strata__limit_held();
    size_t dirty = strata__spans_dirty_bytes();
    size_t resident = held > dirty ? held - dirty : 0;
    heap.peak_bytes = resident > heap.peak_bytes ? resident : heap.peak_bytes;
    return resident;
}

/* Half as much as there is, so that a small program stays within a limit on its address
 * space (RLIMIT_AS), and leaves some of it to others; less if the system refuses that. */
static int add_region(size_t units)
{
    size_t least = units * STRATA__UNIT_BYTES;
    size_t bytes = (heap.mapped_bytes / 2) & ~(STRATA__UNIT_BYTES - 1);
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
        (span = strata__span_new(start, bytes >> STRATA__UNIT_BITS, heap.epoch)) ==
            NULL) {
        strata__os->unmap(start, bytes);
        return -ENOMEM;
    }
    for (size_t i = 0; i < span->units; i++) {
        strata__unitmap_set(
            start + i * STRATA__UNIT_BYTES, strata__entry(STRATA__KIND_UNUSED, NULL));
    }
    __atomic_store_n(&heap.mapped_bytes, heap.mapped_bytes + bytes, __ATOMIC_RELAXED);
    strata__region_add_place(start, bytes, STRATA_PLACE_REGION);
    strata__spans_insert(span);
    return 0;
}

/* Units were taken. */
static void note_used(void)
{
    size_t used = strata__units_used_bytes();
    heap.peak_used_bytes = used > heap.peak_used_bytes ? used : heap.peak_used_bytes;
}

char *strata__units_take(size_t units, size_t alignment_units)
{
    size_t slack = alignment_units - 1;
    if (units > UNITS_MAX - slack) {
        return NULL;
    }
    strata__lock_take(&heap.lock);
    char *start = strata__spans_take(units, alignment_units);
    if (start == NULL && add_region(units + slack) == 0) {
        start = strata__spans_take(units, alignment_units);
    }
    note_used();
    publish();
    strata__lock_drop(&heap.lock);
    return start;
}

int strata__units_extend(char *start, size_t units, size_t extra)
{
    char *end = start + units * STRATA__UNIT_BYTES;
    strata__lock_take(&heap.lock);
    struct strata__span *span = strata__spans_at(end);
    int failed = -ENOMEM;
    if (span != NULL && span->start == end && span->units >= extra) {
        failed = strata__spans_carve(span, end, extra);
    }
    note_used();
    publish();
    strata__lock_drop(&heap.lock);
    return failed;
}

void strata__units_give(struct strata__span *span, char *start, size_t units)
{
    strata__lock_take(&heap.lock);
    strata__span_init(span, start, units, heap.epoch);
    (void)note_resident();
    size_t pages = strata__unitmap_touched_pages(start, units);
    span->dirty = pages > 0;
    strata__spans_add_dirty(pages * STRATA__PAGE_BYTES);
    strata__spans_insert(span);
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
        struct strata__span *span = strata__spans_oldest();
        size_t dirty_bytes = strata__spans_dirty_bytes();
        if (span == NULL || span->epoch > epoch || dirty_bytes <= keep_bytes) {
            strata__lock_drop(&heap.lock);
            return purged;
        }
        strata__spans_unlink(span);
        heap.purges++;
        publish();
        strata__lock_drop(&heap.lock);
        size_t bytes = purge_span(span, dirty_bytes - keep_bytes);
        strata__lock_take(&heap.lock);
        heap.purges--;
        strata__spans_add_dirty(-bytes);
        heap.purged_bytes += bytes;
        span->dirty = (uint8_t)strata__unitmap_any_touched(span->start, span->units);
        strata__spans_insert(span);
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
    size_t dirty = strata__spans_dirty_bytes();
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
    return __atomic_load_n(&heap.mapped_bytes, __ATOMIC_RELAXED);
}

size_t strata__units_used_bytes(void)
{
    return strata__units_mapped_bytes() - strata__spans_free_bytes();
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
    heap.peak_used_bytes = strata__units_used_bytes();
    publish();
    strata__lock_drop(&heap.lock);
}

size_t strata__units_dirty_bytes(void)
{
    return strata__spans_dirty_bytes();
}

void strata__units_get_stats(struct strata__units_stats *stats)
{
    strata__lock_take(&heap.lock);
    *stats = (struct strata__units_stats){.mapped_bytes = heap.mapped_bytes,
        .free_bytes = strata__spans_free_bytes(),
        .dirty_bytes = strata__spans_dirty_bytes(),
        .peak_used_bytes = heap.peak_used_bytes,
        .purged_bytes = heap.purged_bytes};
    strata__lock_drop(&heap.lock);
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
    take_between_purges();
    strata__spans_check();
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
