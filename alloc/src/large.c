/*
 * Large blocks take whole units, but only the pages that they need count and are marked
 * as touched; the rest of the last unit is address space. A block never shares a unit, so
 * one load of the address map finds its descriptor, and inner units are marked, so that
 * the free of an inner address is fatal.
 *
 * A huge block that grows is moved by mremap(2), which moves page tables instead of bytes
 * and takes any free address, a multiple of a page only: so only its first unit is in the
 * map. What else lies in that unit (a foreign mapping in front of the block) is not ours.
 * The map has it just while it is in the books, with the start and length that it has
 * there: so whoever has the lock can tell from the nearest entry below any address whether
 * that lies in a huge block.
 *
 * Behind the block its last unit may have pages that are still resident from a former use:
 * the tail. Purging it at once would cost a system call for each block that comes and
 * goes; so blocks with a tail are on a list, and what a sweep finds twice is purged.
 *
 * A block's descriptor belongs to the block's owner, but for the list, which has a lock, and
 * so have the counters. Nothing but the system is called under it.
 */
#include "large.h"

#include <errno.h>
#include <sys/mman.h>

#include "limit.h"
#include "lock.h"
#include "metadata.h"
#include "os.h"
#include "pagesize.h"
#include "region.h"
#include "units.h"

#define HEAP_NAME "malloc"

static struct strata__large_stats stats;

/* Address space of the longest huge block so far, in whole units. */
static size_t longest_huge_units;

/* Live blocks with a tail. A span's `dirty` says whether it is on the list, `seen` whether
 * a sweep has found it there. */
static struct {
    struct strata__lock lock;
    struct strata__span *head;
    size_t bytes;
} tails;

static int move_mapping(void *from, size_t old_bytes, void *to, size_t new_bytes)
{
    void *moved = mremap(from, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    return moved == MAP_FAILED ? -errno : 0;
}

int (*strata__large_move)(void *, size_t, void *, size_t) = move_mapping;

static size_t round_up(size_t bytes, size_t grain)
{
    return (bytes + grain - 1) & ~(grain - 1);
}

static size_t units_of(size_t bytes)
{
    return (bytes + STRATA__UNIT_BYTES - 1) >> STRATA__UNIT_BITS;
}

/* Bits of the pages of unit number `unit` that a block of `bytes` covers. */
static uint16_t pages_mask(size_t bytes, size_t unit)
{
    size_t left_pages = (bytes - unit * STRATA__UNIT_BYTES) / STRATA__PAGE_BYTES;
    return (uint16_t)(left_pages >= STRATA__UNIT_PAGES ? STRATA__UNIT_PAGES_MASK
                                                       : (1U << left_pages) - 1);
}

/* Pages behind the block in its last unit that may be resident. */
static uint16_t tail_mask(const struct strata__span *span)
{
    size_t unit = span->units - 1U;
    return *strata__unitmap_touched(span->start + unit * STRATA__UNIT_BYTES) &
           (uint16_t)~pages_mask(span->bytes, unit);
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

static void tail_link(struct strata__span *span)
{
    span->seen = 0;
    span->previous = NULL;
    span->next = tails.head;
    if (tails.head != NULL) {
        tails.head->previous = span;
    }
    tails.head = span;
}

/* Address space around a guarded block: whole units, so that no other block starts in
 * the unit where this one does. */
static size_t guarded_bytes(size_t bytes, unsigned guard_bits)
{
    return round_up(
        ((size_t)1 << guard_bits) + bytes + STRATA__PAGE_BYTES, STRATA__UNIT_BYTES);
}

/* Of a huge block's mapping, guards included. */
static char *mapping_start(const struct strata__span *span)
{
    return span->start - (span->guard_bits == 0 ? 0 : (size_t)1 << span->guard_bits);
}

static size_t mapping_bytes(const struct strata__span *span)
{
    return span->guard_bits == 0 ? span->bytes
                                 : guarded_bytes(span->bytes, span->guard_bits);
}

static void enter_huge(struct strata__span *span)
{
    size_t units = units_of(mapping_bytes(span));
    longest_huge_units = units > longest_huge_units ? units : longest_huge_units;
    span->huge_slot = (uint16_t)strata__region_huge_take();
    strata__region_huge_set(span->huge_slot, span->start, span->bytes);
    strata__unitmap_set(span->start, strata__entry(STRATA__KIND_HUGE, span));
}

static void leave_huge(const struct strata__span *span)
{
    strata__unitmap_set(span->start, 0);
    strata__region_huge_drop(span->huge_slot);
}

/* Counts a block, and puts it on the list if it has a tail. */
static void enter(struct strata__span *span)
{
    uint16_t mask = span->units == 0 ? 0 : tail_mask(span);
    span->dirty = mask != 0;
    strata__lock_take(&tails.lock);
    if (mask != 0) {
        tail_link(span);
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
    if (span->previous != NULL) {
        span->previous->next = span->next;
    } else {
        tails.head = span->next;
    }
    if (span->next != NULL) {
        span->next->previous = span->previous;
    }
    span->dirty = 0;
}

/* Before its owner frees or resizes a block; the sweep may have been faster. */
static void leave(struct strata__span *span)
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
    for (struct strata__span *span = tails.head; span != NULL; span = next) {
        next = span->next;
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

/* Buys and marks the pages of a block from unit `first` on that are not touched yet. 0 and
 * how many of them were before, or -ENOMEM. */
static int touch(char *start, size_t bytes, size_t first, size_t *touched_before)
{
    size_t before = 0;
    size_t pages = 0;
    for (size_t unit = first; unit < units_of(bytes); unit++) {
        unsigned mask = pages_mask(bytes, unit);
        unsigned old = *strata__unitmap_touched(start + unit * STRATA__UNIT_BYTES) & mask;
        before += (size_t)__builtin_popcount(old);
        pages += (size_t)__builtin_popcount(mask);
    }
    *touched_before = before;
    if (strata__limit_buy((pages - before) * STRATA__PAGE_BYTES) != 0) {
        return -ENOMEM;
    }
    for (size_t unit = first; unit < units_of(bytes); unit++) {
        *strata__unitmap_touched(start + unit * STRATA__UNIT_BYTES) |=
            pages_mask(bytes, unit);
    }
    return 0;
}

static void mark_units(const char *start, size_t first, size_t end, uint64_t entry)
{
    for (size_t unit = first; unit < end; unit++) {
        strata__unitmap_set(start + unit * STRATA__UNIT_BYTES, entry);
    }
}

/* `bytes` are whole pages, of which the last `rounding_bytes` were not asked for. */
static void *units_alloc(
    size_t bytes, size_t rounding_bytes, size_t alignment, int *zeroed)
{
    size_t units = units_of(bytes);
    size_t alignment_units = units_of(alignment);
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    char *start = span == NULL ? NULL : strata__units_take(units, alignment_units);
    if (start == NULL) {
        if (span != NULL) {
            strata__metadata_give(span, sizeof(*span));
        }
        return NULL;
    }
    *span = (struct strata__span){.start = start,
        .units = (uint32_t)units,
        .bytes = bytes,
        .rounding_bytes = (uint16_t)rounding_bytes};
    size_t before = 0;
    if (touch(start, bytes, 0, &before) != 0) {
        strata__units_give(span, start, units);
        return NULL;
    }
    *zeroed = before == 0;
    mark_units(start, 1, units, strata__entry(STRATA__KIND_INTERIOR, NULL));
    strata__unitmap_set(start, strata__entry(STRATA__KIND_LARGE, span));
    enter(span);
    return start;
}

/* A mapping that the address map can tell. */
static char *map_covered(size_t bytes, size_t alignment)
{
    char *start = strata__os->map(bytes, alignment);
    if (start != NULL && strata__unitmap_cover(start, bytes) != 0) {
        strata__os->unmap(start, bytes);
        start = NULL;
    }
    return start;
}

static int guarded; /* set once, before other threads */

void strata__large_harden(void)
{
    guarded = 1;
}

/* Where the process has no mappings left, a block does without. */
static char *map_guarded(size_t bytes, size_t alignment, uint8_t *guard_bits)
{
    size_t front = alignment < STRATA__PAGE_BYTES ? STRATA__PAGE_BYTES : alignment;
    unsigned bits = (unsigned)__builtin_ctzll(front);
    size_t all = guarded_bytes(bytes, bits);
    char *base =
        map_covered(all, front < STRATA__UNIT_BYTES ? STRATA__UNIT_BYTES : front);
    if (base == NULL) {
        return NULL;
    }
    int saved = errno;
    (void)mprotect(base, front, PROT_NONE);
    (void)mprotect(base + front + bytes, all - front - bytes, PROT_NONE);
    errno = saved;
    *guard_bits = (uint8_t)bits;
    return base + front;
}

/* A unit at least, as a guarded block has: the map can tell of one start in each. */
static size_t huge_bytes_of(size_t asked_bytes)
{
    return !guarded && asked_bytes < STRATA__UNIT_BYTES
               ? STRATA__UNIT_BYTES
               : round_up(asked_bytes, STRATA__PAGE_BYTES);
}

void *strata__huge_alloc(size_t asked_bytes, size_t alignment)
{
    size_t bytes = huge_bytes_of(asked_bytes);
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    if (span == NULL) {
        return NULL;
    }
    int bought = strata__limit_buy(bytes) == 0;
    uint8_t guard_bits = 0;
    char *start = NULL;
    if (bought) {
        start = guarded ? map_guarded(bytes, alignment, &guard_bits)
                        : map_covered(bytes, alignment < STRATA__PAGE_BYTES
                                                 ? STRATA__PAGE_BYTES
                                                 : alignment);
    }
    if (start == NULL) {
        strata__limit_return(bought ? bytes : 0);
        strata__metadata_give(span, sizeof(*span));
        return NULL;
    }
    *span = (struct strata__span){.start = start,
        .guard_bits = guard_bits,
        .bytes = bytes,
        .rounding_bytes = (uint16_t)(bytes - asked_bytes)};
    enter(span);
    return start;
}

void *strata__large_alloc(size_t asked_bytes, size_t alignment, int *zeroed)
{
    if (asked_bytes > PTRDIFF_MAX || alignment > PTRDIFF_MAX - asked_bytes) {
        return NULL;
    }
    size_t bytes = round_up(asked_bytes, STRATA__PAGE_BYTES);
    if (guarded || bytes > STRATA__LARGE_MAX_BYTES ||
        alignment > STRATA__LARGE_MAX_BYTES) {
        *zeroed = 1;
        return strata__huge_alloc(asked_bytes, alignment);
    }
    return units_alloc(bytes, bytes - asked_bytes, alignment, zeroed);
}

static struct strata__span *span_of(const void *block, uint64_t entry)
{
    unsigned kind = strata__entry_kind(entry);
    int is_block = kind == STRATA__KIND_LARGE || kind == STRATA__KIND_HUGE;
    struct strata__span *span = is_block ? strata__entry_pointer(entry) : NULL;
    if (kind == STRATA__KIND_INTERIOR || (is_block && span->start != block)) {
        strata__fatal(HEAP_NAME, "not the start of a block", block);
    }
    if (!is_block) {
        strata__fatal(HEAP_NAME, "not an allocated block", block);
    }
    return span;
}

static int lies_in(uintptr_t address, const char *start, size_t bytes)
{
    return address - (uintptr_t)start < bytes;
}

/* Under the lock: the huge block whose mapping the address lies in, or NULL. No two start
 * in one unit, and what lies between the start of one and an address in it has no entries. */
static const struct strata__span *huge_around(uintptr_t address)
{
    size_t units = address >> STRATA__UNIT_BITS;
    units = units < longest_huge_units ? units : longest_huge_units;
    for (size_t i = 0; i <= units; i++) {
        uint64_t entry =
            strata__unitmap_get((const void *)(address - i * STRATA__UNIT_BYTES));
        if (entry == 0) {
            continue;
        }
        if (strata__entry_kind(entry) != STRATA__KIND_HUGE) {
            return NULL;
        }
        const struct strata__span *span = strata__entry_pointer(entry);
        if (lies_in(address, mapping_start(span), mapping_bytes(span))) {
            return span;
        }
        if ((uintptr_t)span->start < address) {
            return NULL;
        }
    }
    return NULL;
}

void strata__huge_refuse_inner(const void *address)
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

static void free_huge(struct strata__span *span)
{
    size_t bytes = span->bytes;
    char *mapped = mapping_start(span);
    size_t mapped_bytes = mapping_bytes(span);
    leave(span);
    strata__metadata_give(span, sizeof(*span));
    strata__os->unmap(mapped, mapped_bytes);
    strata__limit_return(bytes);
}

void strata__large_free(void *block, uint64_t entry)
{
    struct strata__span *span = span_of(block, entry);
    if (span->units == 0) {
        free_huge(span);
        return;
    }
    mark_units(span->start, 0, span->units, strata__entry(STRATA__KIND_UNUSED, NULL));
    leave(span);
    strata__units_give(span, span->start, span->units);
}

const void *strata__large_start(uint64_t entry)
{
    return ((const struct strata__span *)strata__entry_pointer(entry))->start;
}

size_t strata__large_bytes(const void *block, uint64_t entry)
{
    return span_of(block, entry)->bytes;
}

/* Everything that can fail is done before the old mapping goes. */
static char *grow_huge(struct strata__span *span, size_t bytes)
{
    char *start = span->start;
    if (strata__os->extend(start, span->bytes, bytes) == 0) {
        return start;
    }
    char *target = map_covered(bytes, STRATA__PAGE_BYTES);
    if (target == NULL) {
        return NULL;
    }
    if (strata__large_move(start, span->bytes, target, bytes) != 0) {
        strata__os->unmap(target, bytes);
        return NULL;
    }
    return target;
}

/* The block stands aside of the books and of the map while it changes, since another
 * thread's mapping can get the addresses that it leaves. */
static char *resize_huge(struct strata__span *span, size_t bytes)
{
    if (bytes < STRATA__GROWN_MAX_BYTES || span->guard_bits != 0) {
        return NULL;
    }
    if (bytes > span->bytes) {
        size_t more = bytes - span->bytes;
        if (strata__limit_buy(more) != 0) {
            return NULL;
        }
        char *start = grow_huge(span, bytes);
        if (start == NULL) {
            strata__limit_return(more);
        }
        return start;
    }
    strata__os->unmap(span->start + bytes, span->bytes - bytes);
    strata__limit_return(span->bytes - bytes);
    return span->start;
}

/* Takes the units behind the block, or says -ENOMEM. With their pages: the first part of
 * a block's last unit may be its own tail, so that is marked as well. */
static int extend_units(struct strata__span *span, size_t bytes)
{
    char *start = span->start;
    size_t old_units = span->units;
    size_t more = units_of(bytes) - old_units;
    size_t before = 0;
    struct strata__span *spare = NULL;
    if (more > 0) {
        spare = strata__metadata_take(sizeof(*spare));
        if (spare == NULL || strata__units_extend(start, old_units, more) != 0) {
            if (spare != NULL) {
                strata__metadata_give(spare, sizeof(*spare));
            }
            return -ENOMEM;
        }
    }
    int failed = touch(start, bytes, old_units - 1, &before);
    if (more > 0 && failed != 0) {
        strata__units_give(spare, start + old_units * STRATA__UNIT_BYTES, more);
    } else if (more > 0) {
        strata__metadata_give(spare, sizeof(*spare));
        mark_units(start, old_units, old_units + more,
            strata__entry(STRATA__KIND_INTERIOR, NULL));
    }
    return failed;
}

/* Gives the units behind the shorter block back, or says -ENOMEM. */
static int shrink_units(struct strata__span *span, size_t bytes)
{
    char *start = span->start;
    size_t old_units = span->units;
    size_t units = units_of(bytes);
    struct strata__span *rest = NULL;
    if (units < old_units && (rest = strata__metadata_take(sizeof(*rest))) == NULL) {
        return -ENOMEM;
    }
    if (units < old_units) {
        mark_units(start, units, old_units, strata__entry(STRATA__KIND_UNUSED, NULL));
        strata__units_give(rest, start + units * STRATA__UNIT_BYTES, old_units - units);
    }
    return 0;
}

static char *resize_units(struct strata__span *span, size_t bytes)
{
    int failed =
        bytes > span->bytes ? extend_units(span, bytes) : shrink_units(span, bytes);
    if (failed != 0) {
        return NULL;
    }
    span->units = (uint32_t)units_of(bytes);
    return span->start;
}

void *strata__large_resize(void *block, uint64_t entry, size_t asked_bytes)
{
    struct strata__span *span = span_of(block, entry);
    if (asked_bytes > PTRDIFF_MAX - STRATA__PAGE_BYTES ||
        asked_bytes <= STRATA__PAGE_BYTES) {
        return NULL;
    }
    size_t bytes = round_up(asked_bytes, STRATA__PAGE_BYTES);
    if (span->units > 0 && bytes > STRATA__LARGE_MAX_BYTES) {
        return NULL;
    }
    leave(span);
    char *start = span->start;
    if (bytes != span->bytes) {
        start = span->units == 0 ? resize_huge(span, bytes) : resize_units(span, bytes);
    }
    if (start != NULL) {
        span->start = start;
        span->bytes = bytes;
        span->rounding_bytes = (uint16_t)(bytes - asked_bytes);
    }
    enter(span);
    return start;
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
