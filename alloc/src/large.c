/*
 * Large blocks take whole units, but only the pages that they need count and are marked
 * as touched; the rest of the last unit is address space. A block never shares a unit, so
 * one load of the address map finds its descriptor, and inner units are marked, so that
 * the free of an inner address is fatal.
 */
#include "large.h"

#include <errno.h>

#include "huge.h"
#include "large_books.h"
#include "limit.h"
#include "metadata.h"
#include "os.h"
#include "pagesize.h"
#include "units.h"

#define HEAP_NAME "malloc"

/* Buys and marks the pages of a block from unit `first` on that are not touched yet. 0 and
 * how many of them were before, or -ENOMEM. */
static int touch(char *start, size_t bytes, size_t first, size_t *touched_before)
{
    size_t before = 0;
    size_t pages = 0;
    for (size_t unit = first; unit < strata__units_of(bytes); unit++) {
        unsigned mask = strata__unit_pages_of(bytes, unit);
        unsigned old = *strata__unitmap_touched(start + unit * STRATA__UNIT_BYTES) & mask;
        before += (size_t)__builtin_popcount(old);
        pages += (size_t)__builtin_popcount(mask);
    }
    *touched_before = before;
    if (strata__limit_buy((pages - before) * STRATA__PAGE_BYTES) != 0) {
        return -ENOMEM;
    }
    for (size_t unit = first; unit < strata__units_of(bytes); unit++) {
        *strata__unitmap_touched(start + unit * STRATA__UNIT_BYTES) |=
            strata__unit_pages_of(bytes, unit);
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
    size_t units = strata__units_of(bytes);
    size_t alignment_units = strata__units_of(alignment);
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
    strata__large_enter(span);
    return start;
}

void *strata__large_alloc(size_t asked_bytes, size_t alignment, int *zeroed)
{
    if (asked_bytes > PTRDIFF_MAX || alignment > PTRDIFF_MAX - asked_bytes) {
        return NULL;
    }
    size_t bytes = strata__page_round_up(asked_bytes);
    if (strata__huge_guarded || bytes > STRATA__LARGE_MAX_BYTES ||
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

void strata__large_free(void *block, uint64_t entry)
{
    struct strata__span *span = span_of(block, entry);
    if (span->units == 0) {
        strata__huge_free(span);
        return;
    }
    mark_units(span->start, 0, span->units, strata__entry(STRATA__KIND_UNUSED, NULL));
    strata__large_leave(span);
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

/* Takes the units behind the block, or says -ENOMEM. With their pages: the first part of
 * a block's last unit may be its own tail, so that is marked as well. */
static int extend_units(struct strata__span *span, size_t bytes)
{
    char *start = span->start;
    size_t old_units = span->units;
    size_t more = strata__units_of(bytes) - old_units;
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
    size_t units = strata__units_of(bytes);
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
    span->units = (uint32_t)strata__units_of(bytes);
    return span->start;
}

void *strata__large_resize(void *block, uint64_t entry, size_t asked_bytes)
{
    struct strata__span *span = span_of(block, entry);
    if (asked_bytes > PTRDIFF_MAX - STRATA__PAGE_BYTES ||
        asked_bytes <= STRATA__PAGE_BYTES) {
        return NULL;
    }
    size_t bytes = strata__page_round_up(asked_bytes);
    if (span->units > 0 && bytes > STRATA__LARGE_MAX_BYTES) {
        return NULL;
    }
    strata__large_leave(span);
    char *start = span->start;
    if (bytes != span->bytes) {
        start = span->units == 0 ? strata__huge_resize(span, bytes)
                                 : resize_units(span, bytes);
    }
    if (start != NULL) {
        span->start = start;
        span->bytes = bytes;
        span->rounding_bytes = (uint16_t)(bytes - asked_bytes);
    }
    strata__large_enter(span);
    return start;
}
