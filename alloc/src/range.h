/*
 * The pages of a COMPACT heap: one reserved address range, page runs of any length, and
 * the page map, page states and counters beside them. Knows nothing of blocks or limits.
 *
 * A page is used, free and dirty (its memory is still held), or free and clean (it was
 * never touched, or given back). The pages which the system gave are used + dirty.
 * Page 0 is never used, so that 0 can mean "none".
 */
#ifndef STRATA_RANGE_H
#define STRATA_RANGE_H

#include <stddef.h>
#include <stdint.h>

#include "sizeclass.h"

#define STRATA__RANGE_HINTS 12

struct strata__range {
    char *base;         /* address of page 0, at a chunk border */
    size_t reach_bytes; /* from base: committed */
    uint32_t *words;    /* the page map; 0 but for small runs' pages and large starts */
    uint64_t *states;   /* for each 64 pages a word of used bits and one of dirty bits */
    uint32_t pages;     /* reserved */
    uint32_t end;       /* every page from here on is free and clean */
    uint32_t used_pages;
    uint32_t high_end; /* behind the highest page taken since the last restart */
    uint32_t dirty_pages;
    uint32_t touched_end; /* highest end so far: how far the tables were touched */
    uint32_t keep_pages;  /* dirty pages that a give may leave behind */
    /* No free run of 2^i pages or more begins before first_free[i]. */
    uint32_t first_free[STRATA__RANGE_HINTS];
};

/* Bytes of a reservation for `pages` pages whose first `front_bytes` are the owner's. */
size_t strata__range_span(size_t front_bytes, uint32_t pages);
/* `reservation` has strata__range_span() bytes; commits nothing but the tables' start. */
int strata__range_init(
    struct strata__range *range, void *reservation, size_t front_bytes, uint32_t pages);
/* First page of the lowest place for `pages` pages at the alignment, or 0. */
uint32_t strata__range_search(
    struct strata__range *range, uint32_t pages, uint32_t align_pages);
/* What taking these free pages costs: the clean ones among them, and table pages. */
uint32_t strata__range_cost(
    const struct strata__range *range, uint32_t first, uint32_t pages);
/* Takes free pages. 0 or -ENOMEM (then nothing has changed). */
int strata__range_take(struct strata__range *range, uint32_t first, uint32_t pages);
/* Takes the lowest free page if it is dirty, so that it costs nothing, and near the hint,
 * so that it is found at once; else 0, and nothing has changed. */
uint32_t strata__range_take_dirty(struct strata__range *range);
/* Frees used pages; they stay dirty. Clears their words. */
void strata__range_give(struct strata__range *range, uint32_t first, uint32_t pages);
/* The rule by which memory goes back without being asked (see range.c). Returns the pages
 * purged. */
uint32_t strata__range_decay(struct strata__range *range);
/* Gives dirty pages back, the highest first, until `keep` are left. Returns how many. */
uint32_t strata__range_purge(struct strata__range *range, uint32_t keep);
/* After a restart: keeps the dirty pages before page `end`, and lets gives leave as many. */
void strata__range_keep(struct strata__range *range, uint32_t end);
/* Are all of these pages inside the range and free? */
int strata__range_is_free(
    const struct strata__range *range, uint32_t first, uint32_t pages);
/* Frees every page; all that were used are dirty. */
void strata__range_restart(struct strata__range *range);
/* Pages of the tables that were touched. */
uint32_t strata__range_table_pages(uint32_t end);
/* First page at or after `from` that is used (or free); at most `end`. */
uint32_t strata__range_next_used(const struct strata__range *range, uint32_t from);
uint32_t strata__range_next_free(const struct strata__range *range, uint32_t from);
/* Dirty pages among these. */
uint32_t strata__range_count_dirty(
    const struct strata__range *range, uint32_t first, uint32_t pages);

static inline void *strata__range_address(
    const struct strata__range *range, uint32_t page)
{
    return range->base + ((size_t)page << STRATA__PAGE_BITS);
}

static inline int strata__range_holds(
    const struct strata__range *range, const void *address)
{
    return (uintptr_t)address - (uintptr_t)range->base < range->reach_bytes;
}

/* The word of the page which holds an address in the range. */
static inline const uint32_t *strata__range_word(
    const struct strata__range *range, const void *address)
{
    uintptr_t offset = (uintptr_t)address - (uintptr_t)range->base;
    return &range->words[offset >> STRATA__PAGE_BITS];
}

#endif
