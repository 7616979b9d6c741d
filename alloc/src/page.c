/*
 * Page runs inside one ZEND chunk.
 *
 * Invariants: free_pages equals the zero bits of used_bits; page 0 is always used; no run
 * begins at free_tail or behind it. (A run that grew in place may reach over free_tail,
 * and free_tail may be higher than need be: it is lowered only by a free that ends at it
 * and by a search that walks into it.)
 *
 * The search decides by the same steps as zend_mm_alloc_pages (php-src 8.1.3,
 * Zend/zend_alloc.c 822), since which run is taken shows in later figures: the first of
 * the shortest runs that fit; a run that reaches the end of a 64-page word at or behind
 * free_tail counts as the tail and ends the search.
 *
 * One thread at a time, as the heap.
 */
#include "page.h"

#include <string.h>

#include "bits.h"
#include "os.h"

#define WORD_PAGES 64U
#define PAGES ((uint32_t)STRATA__CHUNK_PAGES)

/* First page at or after `from` whose bit, xored with `invert`, is set; or 512. */
static uint32_t next_bit(
    const struct strata__chunk *chunk, uint32_t from, uint64_t invert)
{
    if (from >= PAGES) {
        return PAGES;
    }
    uint32_t index = from / WORD_PAGES;
    uint64_t word =
        (chunk->used_bits[index] ^ invert) & (UINT64_MAX << from % WORD_PAGES);
    while (word == 0) {
        index++;
        if (index == STRATA__MAP_WORDS) {
            return PAGES;
        }
        word = chunk->used_bits[index] ^ invert;
    }
    return index * WORD_PAGES + (uint32_t)__builtin_ctzll(word);
}

uint32_t strata__page_next_used(const struct strata__chunk *chunk, uint32_t from)
{
    return next_bit(chunk, from, 0);
}

uint32_t strata__page_next_free(const struct strata__chunk *chunk, uint32_t from)
{
    return next_bit(chunk, from, UINT64_MAX);
}

/* Does the free run from `first` to `end` reach the tail? Zend looks each time the run
 * fills its 64-page word to the end, at the boundary behind it. */
static int run_is_tail(uint32_t first, uint32_t end, uint32_t free_tail)
{
    uint32_t boundary = (first / WORD_PAGES + 1) * WORD_PAGES;
    uint32_t last_boundary = end / WORD_PAGES * WORD_PAGES;
    if (last_boundary < boundary) {
        return 0;
    }
    return end == PAGES || last_boundary >= free_tail;
}

uint32_t strata__page_search(struct strata__chunk *chunk, uint32_t pages)
{
    uint32_t best = 0;
    uint32_t best_length = PAGES;
    uint32_t free_tail = chunk->free_tail;
    uint32_t first = strata__page_next_free(chunk, 1);
    while (first < PAGES) {
        uint32_t end = strata__page_next_used(chunk, first);
        if (run_is_tail(first, end, free_tail)) {
            uint32_t length = PAGES - first;
            if (length >= pages && length < best_length) {
                chunk->free_tail = first + pages;
                return first;
            }
            chunk->free_tail = first;
            return best;
        }
        uint32_t length = end - first;
        if (length == pages) {
            return first;
        }
        if (length > pages && length < best_length) {
            best = first;
            best_length = length;
        }
        first = strata__page_next_free(chunk, end);
    }
    return best;
}

int strata__page_range_is_free(
    const struct strata__chunk *chunk, uint32_t first, uint32_t pages)
{
    return first + pages <= PAGES &&
           strata__page_next_used(chunk, first) >= first + pages;
}

uint32_t strata__page_free_start(const struct strata__chunk *chunk, uint32_t before)
{
    uint32_t index = (before - 1) / WORD_PAGES;
    uint64_t word = chunk->used_bits[index] &
                    UINT64_MAX >> (WORD_PAGES - 1 - (before - 1) % WORD_PAGES);
    while (word == 0) {
        index--; /* ends: page 0 is used */
        word = chunk->used_bits[index];
    }
    return (index + 1) * WORD_PAGES - (uint32_t)__builtin_clzll(word);
}

void strata__page_take(struct strata__chunk *chunk, uint32_t first, uint32_t pages)
{
    uint32_t end = first + pages;
    for (uint32_t index = first / WORD_PAGES; index * WORD_PAGES < end; index++) {
        uint64_t mask = strata__bits_in_word(index, first, end);
        STRATA__BUG_IF((chunk->used_bits[index] & mask) != 0);
        chunk->used_bits[index] |= mask;
    }
    chunk->free_pages -= pages;
}

void strata__page_give(struct strata__chunk *chunk, uint32_t first, uint32_t pages)
{
    uint32_t end = first + pages;
    for (uint32_t index = first / WORD_PAGES; index * WORD_PAGES < end; index++) {
        uint64_t mask = strata__bits_in_word(index, first, end);
        STRATA__BUG_IF((chunk->used_bits[index] & mask) != mask);
        chunk->used_bits[index] &= ~mask;
    }
    memset(&chunk->map[first], 0, pages * sizeof(chunk->map[0]));
    chunk->free_pages += pages;
}

/* Are there so many set bits in a row (1 to 64)? Each step widens the rows looked for. */
static int has_row(uint64_t bits, uint32_t length)
{
    uint32_t seen = 1;
    while (seen < length) {
        uint32_t step = length - seen < seen ? length - seen : seen;
        bits &= bits >> step;
        seen += step;
    }
    return bits != 0;
}

/* First of so many set bits in a row, of which there are some. */
static uint32_t row_start(uint64_t bits, uint32_t length)
{
    for (uint32_t i = 1; i < length; i++) {
        bits &= bits >> 1;
    }
    return (uint32_t)__builtin_ctzll(bits);
}

/* By words and not by runs, since purchases of pages ask: most words are passed by with the
 * one question whether they hold a longer run than was found so far. */
struct strata__free_run strata__page_longest_free(
    const struct strata__chunk *chunk, struct strata__free_run longest)
{
    uint32_t open = 0; /* free pages at the end of what was passed */
    for (uint32_t index = 0; index < STRATA__MAP_WORDS; index++) {
        uint64_t used = chunk->used_bits[index];
        uint32_t start = index * WORD_PAGES;
        uint32_t low = used == 0 ? WORD_PAGES : (uint32_t)__builtin_ctzll(used);
        if (open + low > longest.pages) {
            longest = (struct strata__free_run){start - open, open + low};
        }
        if (used == 0) {
            open += WORD_PAGES;
            continue;
        }
        uint32_t row = longest.pages;
        while (row < WORD_PAGES && has_row(~used, row + 1)) {
            row++;
        }
        if (row > longest.pages) {
            longest = (struct strata__free_run){start + row_start(~used, row), row};
        }
        open = (uint32_t)__builtin_clzll(used);
    }
    return longest;
}
