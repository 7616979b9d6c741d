/*
 * Page runs inside one ZEND chunk: the best-fit search with Zend MM's free_tail rule, and
 * the bookkeeping of a run. Knows nothing of other chunks or of blocks.
 */
#ifndef STRATA_PAGE_H
#define STRATA_PAGE_H

#include "chunk.h"

/* First page of a place for `pages` pages (1 to 511), or 0 if the chunk has none. May set
 * the chunk's free_tail, as Zend MM does; marks nothing. */
uint32_t strata__page_search(struct strata__chunk *chunk, uint32_t pages);
/* Are all of these pages inside the chunk and free? */
int strata__page_range_is_free(
    const struct strata__chunk *chunk, uint32_t first, uint32_t pages);
/* Marks pages as used and counts them; sets neither the map nor free_tail. */
void strata__page_take(struct strata__chunk *chunk, uint32_t first, uint32_t pages);
/* Marks pages as free and counts them; clears their map words; leaves free_tail. */
void strata__page_give(struct strata__chunk *chunk, uint32_t first, uint32_t pages);
/* First page at or after `from` that is used (or free), or 512. */
uint32_t strata__page_next_used(const struct strata__chunk *chunk, uint32_t from);
uint32_t strata__page_next_free(const struct strata__chunk *chunk, uint32_t from);
/* First page of the free run which ends before this page (1 to 512), or the page. */
uint32_t strata__page_free_start(const struct strata__chunk *chunk, uint32_t before);
/* A longest free run of the chunk: `longest`, which may have no pages, or a longer one. */
struct strata__free_run strata__page_longest_free(
    const struct strata__chunk *chunk, struct strata__free_run longest);

/* Map words. */
static inline uint32_t strata__page_large_word(uint32_t pages)
{
    return STRATA__CLASS_LARGE | pages << STRATA__CLASS_BITS;
}

static inline uint32_t strata__page_word_value(uint32_t word)
{
    return word >> STRATA__CLASS_BITS;
}

#endif
