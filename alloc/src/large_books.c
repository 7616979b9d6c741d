/*
 * The books of large and huge blocks: who is counted, which of them have a tail, and
 * which huge block an address lies in.
 *
 * Behind a large block its last unit may have pages that are still resident from a former
 * use: the tail. Purging it at once would cost a system call for each block that comes and
 * goes; so blocks with a tail are on a list, and what a sweep finds twice is purged.
 *
 * Huge blocks are on a list of their own, and in the map, just while start and length in
 * their descriptors hold: what is being resized or freed is not. So whoever has the lock
 * can tell whether an address lies in one.
 *
 * A block's descriptor belongs to the block's owner, but for the list, which has a lock, and
 * so have the counters. Nothing but the system is called under it.
 */
#include "large_books.h"

#include "limit.h"
#include "lock.h"
#include "os.h"
#include "pagesize.h"
#include "region.h"

#define HEAP_NAME "malloc"

static struct strata__large_stats stats;

/* Live blocks with a tail. A span's `dirty` says whether it is on the list, `seen` whether
 * a sweep has found it there. */
static struct {
    struct strata__lock lock;
    struct strata__span_list list;
    size_t bytes;
} tails;

static struct strata__span_list huge; /* under the same lock */

/* Pages behind the block in its last unit that may be resident. */
static uint16_t tail_mask(const struct strata__span *span)
{
    size_t unit = span->units - 1U;
    return *strata__unitmap_touched(span->start + unit * STRATA__UNIT_BYTES) &
           (uint16_t)~strata__unit_pages_of(span->bytes, unit);
}

static size_t mask_bytes(unsigned mask)
{
    return (size_t)__builtin_popcount(mask) * STRATA__PAGE_BYTES;
}

/* Under the lock, when it has changed something. */
static void publish(void)
{
    struct strata_layout_large *shown = &strata__shared.region.large;
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    strata__region_set(&shown->large_bytes, stats.large_bytes);
    strata__region_set(&shown->large_blocks, stats.large_blocks);
    strata__region_set(&shown->large_asked_bytes, stats.large_asked_bytes);
    strata__region_set(&shown->huge_bytes, stats.huge_bytes);
    strata__region_set(&shown->huge_blocks, stats.huge_blocks);
    strata__region_set(&shown->huge_asked_bytes, stats.huge_asked_bytes);
    strata__region_set(&shown->peak_bytes, stats.peak_bytes);
    strata__region_set(&shown->tail_bytes, tails.bytes);
    strata__region_set(&shown->purged_bytes, stats.purged_bytes);
    strata__region_end(&shown->sequence);
}

static void count(const struct strata__span *span, size_t blocks)
{
    size_t bytes = span->bytes * blocks;
    size_t asked = (span->bytes - span->rounding_bytes) * blocks;
    if (span->units == 0) {
        stats.huge_bytes += bytes;
        stats.huge_asked_bytes += asked;
        stats.huge_blocks += blocks;
    } else {
        stats.large_bytes += bytes;
        stats.large_asked_bytes += asked;
        stats.large_blocks += blocks;
    }
    size_t all = stats.large_bytes + stats.huge_bytes;
    stats.peak_bytes = all > stats.peak_bytes ? all : stats.peak_bytes;
    publish();
}

static void enter_huge(struct strata__span *span)
{
    LIST_INSERT_HEAD(&huge, span, list);
    span->huge_slot = (uint16_t)strata__region_huge_take();
    strata__region_huge_set(span->huge_slot, span->start, span->bytes);
    strata__unitmap_set(span->start, strata__entry(STRATA__KIND_HUGE, span));
}

static void leave_huge(struct strata__span *span)
{
    LIST_REMOVE(span, list);
    strata__unitmap_set(span->start, 0);
    strata__region_huge_drop(span->huge_slot);
}

void strata__large_enter(struct strata__span *span)
{
    uint16_t mask = span->units == 0 ? 0 : tail_mask(span);
    span->dirty = mask != 0;
    strata__lock_take(&tails.lock);
    if (mask != 0) {
        span->seen = 0;
        LIST_INSERT_HEAD(&tails.list, span, list);
        tails.bytes += mask_bytes(mask);
    }
    if (span->units == 0) {
        enter_huge(span);
    }
    count(span, 1);
    strata__lock_drop(&tails.lock);
}

static void tail_unlink(struct strata__span *span)
{
    LIST_REMOVE(span, list);
    span->dirty = 0;
}

/* The sweep may have been faster with the tail. */
void strata__large_leave(struct strata__span *span)
{
    strata__lock_take(&tails.lock);
    if (span->dirty) {
        tails.bytes -= mask_bytes(tail_mask(span));
        tail_unlink(span);
    }
    if (span->units == 0) {
        leave_huge(span);
    }
    count(span, (size_t)-1);
    strata__lock_drop(&tails.lock);
}

static size_t purge_tail(struct strata__span *span)
{
    uint16_t mask = tail_mask(span);
    size_t end = (size_t)span->units * STRATA__UNIT_BYTES;
    if (strata__os->purge(span->start + span->bytes, end - span->bytes) != 0) {
        return 0;
    }
    *strata__unitmap_touched(span->start + end - STRATA__UNIT_BYTES) &= (uint16_t)~mask;
    tails.bytes -= mask_bytes(mask);
    strata__limit_return(mask_bytes(mask));
    tail_unlink(span);
    return mask_bytes(mask);
}

size_t strata__large_sweep(int now)
{
    size_t purged = 0;
    strata__lock_take(&tails.lock);
    struct strata__span *next = NULL;
    for (struct strata__span *span = LIST_FIRST(&tails.list); span != NULL; span = next) {
        next = LIST_NEXT(span, list);
        if (now || span->seen) {
            purged += purge_tail(span);
        }
        span->seen = 1;
    }
    stats.purged_bytes += purged;
    if (purged > 0) {
        publish();
    }
    strata__lock_drop(&tails.lock);
    return purged;
}

static int lies_in(uintptr_t address, const char *start, size_t bytes)
{
    return address - (uintptr_t)start < bytes;
}

/* Under the lock: the huge block whose mapping the address lies in, or NULL. */
static const struct strata__span *huge_around(uintptr_t address)
{
    const struct strata__span *span = NULL;
    LIST_FOREACH (span, &huge, list) {
        if (lies_in(
                address, strata__huge_mapping(span), strata__huge_mapping_bytes(span))) {
            return span;
        }
    }
    return NULL;
}

void strata__large_refuse_inner(const void *address)
{
    strata__lock_take(&tails.lock);
    const struct strata__span *span = huge_around((uintptr_t)address);
    int is_inside = span != NULL && lies_in((uintptr_t)address, span->start, span->bytes);
    strata__lock_drop(&tails.lock);
    if (span != NULL) {
        strata__fatal(HEAP_NAME,
            is_inside ? "not the start of a block" : "not an allocated block", address);
    }
}

void strata__large_lock(void)
{
    strata__lock_take(&tails.lock);
}

void strata__large_unlock(void)
{
    strata__lock_drop(&tails.lock);
}

void strata__large_reset_lock(void)
{
    strata__lock_reset(&tails.lock);
}

void strata__large_publish(void)
{
    strata__lock_take(&tails.lock);
    publish();
    strata__lock_drop(&tails.lock);
}

void strata__large_reset_peak(void)
{
    strata__lock_take(&tails.lock);
    stats.peak_bytes = stats.large_bytes + stats.huge_bytes;
    publish();
    strata__lock_drop(&tails.lock);
}

void strata__large_get_stats(struct strata__large_stats *out)
{
    strata__lock_take(&tails.lock);
    *out = stats;
    out->tail_bytes = tails.bytes;
    strata__lock_drop(&tails.lock);
}
