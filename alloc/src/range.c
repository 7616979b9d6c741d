/*
 * The pages of a COMPACT heap.
 *
 * Invariants: used_pages and dirty_pages equal the bits; no page is used and dirty; no
 * page at or behind `end` is either; words of free pages are 0; the tables are committed
 * as far as the pages are.
 *
 * Runs are placed first fit, from low addresses on, so that what stays free is high and
 * goes back first. Free address space costs nothing; only used and dirty pages count.
 *
 * Decay without a clock: each time free dirty pages pass keep_pages and a 32nd of the
 * pages in use, they are purged to half of that and keep_pages is halved; each dirty page
 * that is used again adds itself to keep_pages. A heap that shrinks ends near KEEP_LEAST;
 * one that churns keeps its pages; a large one purges in large pieces.
 *
 * One thread at a time, as the heap.
 */
#include "range.h"

#include <errno.h>
#include <string.h>

#include "bits.h"
#include "os.h"

#define WORD_PAGES 64U
#define WORDS_OF_PAGE ((uint32_t)(STRATA__PAGE_BYTES / sizeof(uint32_t)))
#define STATES_OF_PAGE                                                                   \
    ((uint32_t)(STRATA__PAGE_BYTES / (2 * sizeof(uint64_t)) * WORD_PAGES))
#define COMMIT_LEAST ((uint32_t)1024) /* pages; a table page's worth */
#define COMMIT_MOST ((uint32_t)16384)
#define TABLE_SLACK_PAGES 4U
#define KEEP_LEAST 8U
#define KEEP_MOST 512U
#define KEEP_USED_SHARE 32U
#define KEEP_START 256U

static uint32_t least(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint64_t *used_bits(const struct strata__range *range, uint32_t index)
{
    return &range->states[2 * (size_t)index];
}

static uint64_t *dirty_bits(const struct strata__range *range, uint32_t index)
{
    return &range->states[2 * (size_t)index + 1];
}

/* ---- making ---- */

static size_t words_bytes(uint32_t pages)
{
    return (size_t)pages * sizeof(uint32_t);
}

static size_t states_bytes(uint32_t pages)
{
    return (size_t)pages / WORD_PAGES * 2 * sizeof(uint64_t);
}

static size_t tables_bytes(size_t front_bytes, uint32_t pages)
{
    size_t bytes = front_bytes + words_bytes(pages) + states_bytes(pages);
    return (bytes + STRATA__CHUNK_BYTES - 1) & ~(STRATA__CHUNK_BYTES - 1);
}

size_t strata__range_span(size_t front_bytes, uint32_t pages)
{
    return tables_bytes(front_bytes, pages) + (size_t)pages * STRATA__PAGE_BYTES;
}

/* Makes pages up to `end`, and the tables for them, readable and writable. Steps double,
 * so that a small heap charges little where the system counts commitments. */
static int commit_to(struct strata__range *range, uint32_t end)
{
    uint32_t committed = (uint32_t)(range->reach_bytes >> STRATA__PAGE_BITS);
    uint32_t step =
        least(committed < COMMIT_LEAST ? COMMIT_LEAST : committed, COMMIT_MOST);
    uint32_t target = end - committed > step ? end : committed + step;
    target =
        least((target + COMMIT_LEAST - 1) / COMMIT_LEAST * COMMIT_LEAST, range->pages);
    size_t states = strata__page_round_up(states_bytes(target));
    if (strata__os->commit(range->words, words_bytes(target)) != 0 ||
        strata__os->commit(range->states, states) != 0 ||
        strata__os->commit(range->base + range->reach_bytes,
            (size_t)(target - committed) * STRATA__PAGE_BYTES) != 0) {
        return -ENOMEM;
    }
    range->reach_bytes = (size_t)target * STRATA__PAGE_BYTES;
    return 0;
}

int strata__range_init(
    struct strata__range *range, void *reservation, size_t front_bytes, uint32_t pages)
{
    char *start = reservation;
    STRATA__BUG_IF(pages % STATES_OF_PAGE != 0);
    *range = (struct strata__range){
        .base = start + tables_bytes(front_bytes, pages),
        .words = (uint32_t *)(void *)(start + front_bytes),
        .states = (uint64_t *)(void *)(start + front_bytes + words_bytes(pages)),
        .pages = pages,
        .end = 1,
        .high_end = 1,
        .touched_end = 1,
        .keep_pages = KEEP_START,
    };
    for (unsigned i = 0; i < STRATA__RANGE_HINTS; i++) {
        range->first_free[i] = 1;
    }
    return commit_to(range, 1);
}

uint32_t strata__range_table_pages(uint32_t end)
{
    return (end + WORDS_OF_PAGE - 1) / WORDS_OF_PAGE +
           (end + STATES_OF_PAGE - 1) / STATES_OF_PAGE;
}

/* ---- scanning ---- */

/* First page at or after `from` whose used bit, xored with `invert`, is set; or end. */
static uint32_t next_bit(
    const struct strata__range *range, uint32_t from, uint64_t invert)
{
    if (from >= range->end) {
        return range->end;
    }
    uint32_t index = from / WORD_PAGES;
    uint32_t last = (range->end - 1) / WORD_PAGES;
    uint64_t word = (*used_bits(range, index) ^ invert) & UINT64_MAX << from % WORD_PAGES;
    while (word == 0 && index < last) {
        index++;
        word = *used_bits(range, index) ^ invert;
    }
    if (word == 0) {
        return range->end;
    }
    return least(index * WORD_PAGES + (uint32_t)__builtin_ctzll(word), range->end);
}

uint32_t strata__range_next_used(const struct strata__range *range, uint32_t from)
{
    return next_bit(range, from, 0);
}

uint32_t strata__range_next_free(const struct strata__range *range, uint32_t from)
{
    return next_bit(range, from, UINT64_MAX);
}

/* First page of the free run which ends before `page`. */
static uint32_t free_run_start(const struct strata__range *range, uint32_t page)
{
    uint32_t index = page / WORD_PAGES;
    uint64_t below = ~(UINT64_MAX << page % WORD_PAGES);
    uint64_t word = *used_bits(range, index) & below;
    while (word == 0 && index > 0) {
        index--;
        word = *used_bits(range, index);
    }
    if (word == 0) {
        return 1;
    }
    return index * WORD_PAGES + WORD_PAGES - (uint32_t)__builtin_clzll(word);
}

uint32_t strata__range_count_dirty(
    const struct strata__range *range, uint32_t first, uint32_t pages)
{
    uint32_t end = least(first + pages, range->end); /* behind it all is clean */
    uint32_t dirty = 0;
    for (uint32_t index = first / WORD_PAGES; index * WORD_PAGES < end; index++) {
        dirty += (uint32_t)__builtin_popcountll(
            *dirty_bits(range, index) & strata__bits_in_word(index, first, end));
    }
    return dirty;
}

int strata__range_is_free(
    const struct strata__range *range, uint32_t first, uint32_t pages)
{
    if (pages > range->pages - first) {
        return 0;
    }
    uint32_t used = strata__range_next_used(range, first);
    return used >= first + pages || used >= range->end;
}

/* ---- placing ---- */

static uint32_t log2_floor(uint32_t pages)
{
    return 31U - (uint32_t)__builtin_clz(pages);
}

/* First page at or after this one whose address is aligned. */
static uint32_t align_up(
    const struct strata__range *range, uint32_t page, uint32_t align_pages)
{
    uintptr_t base_page = (uintptr_t)range->base >> STRATA__PAGE_BITS;
    return page + (uint32_t)(-(base_page + page) & (align_pages - 1));
}

/* A search that began at the hint found nothing for `pages` pages before `first`. */
static void raise_hints(struct strata__range *range, uint32_t pages, uint32_t first)
{
    uint32_t i = log2_floor(pages) + ((pages & (pages - 1)) != 0);
    for (; i < STRATA__RANGE_HINTS; i++) {
        if (range->first_free[i] < first) {
            range->first_free[i] = first;
        }
    }
}

static void lower_hints(struct strata__range *range, uint32_t pages, uint32_t first)
{
    uint32_t most = least(log2_floor(pages), STRATA__RANGE_HINTS - 1);
    for (uint32_t i = 0; i <= most; i++) {
        if (range->first_free[i] > first) {
            range->first_free[i] = first;
        }
    }
}

uint32_t strata__range_search(
    struct strata__range *range, uint32_t pages, uint32_t align_pages)
{
    uint32_t hint = least(log2_floor(pages), STRATA__RANGE_HINTS - 1);
    uint32_t from = range->first_free[hint];
    from = from > range->first_free[0] ? from : range->first_free[0];
    uint32_t first = strata__range_next_free(range, from);
    if (pages == 1 && align_pages == 1 && first < range->pages) {
        range->first_free[0] = first;
        return first;
    }
    for (;;) {
        uint32_t start = align_up(range, first, align_pages);
        uint32_t run_end = strata__range_next_used(range, first);
        if (run_end >= range->end) {
            run_end = range->pages; /* behind the end all is free */
        }
        if (start < run_end && run_end - start >= pages) {
            if (align_pages == 1) {
                raise_hints(range, pages, first);
            }
            return start;
        }
        if (run_end >= range->end) {
            return 0;
        }
        first = strata__range_next_free(range, run_end);
    }
}

uint32_t strata__range_cost(
    const struct strata__range *range, uint32_t first, uint32_t pages)
{
    uint32_t cost = pages - strata__range_count_dirty(range, first, pages);
    if (first + pages > range->touched_end) {
        cost += strata__range_table_pages(first + pages) -
                strata__range_table_pages(range->touched_end);
    }
    return cost;
}

uint32_t strata__range_take_dirty(struct strata__range *range)
{
    uint32_t from = range->first_free[0];
    uint32_t index = from / WORD_PAGES;
    if (from >= range->end) {
        return 0;
    }
    uint64_t open = ~*used_bits(range, index) & UINT64_MAX << from % WORD_PAGES;
    uint64_t lowest = open & -open;
    if ((*dirty_bits(range, index) & lowest) == 0) {
        return 0;
    }
    *used_bits(range, index) |= lowest;
    *dirty_bits(range, index) &= ~lowest;
    range->used_pages++;
    range->dirty_pages--;
    range->keep_pages += range->keep_pages < KEEP_MOST;
    uint32_t page = index * WORD_PAGES + (uint32_t)__builtin_ctzll(lowest);
    range->first_free[0] = page + 1;
    range->high_end = page + 1 > range->high_end ? page + 1 : range->high_end;
    return page;
}

int strata__range_take(struct strata__range *range, uint32_t first, uint32_t pages)
{
    uint32_t end = first + pages;
    if (((size_t)end << STRATA__PAGE_BITS) > range->reach_bytes &&
        commit_to(range, end) != 0) {
        return -ENOMEM;
    }
    uint32_t reused = 0;
    for (uint32_t index = first / WORD_PAGES; index * WORD_PAGES < end; index++) {
        uint64_t mask = strata__bits_in_word(index, first, end);
        STRATA__BUG_IF((*used_bits(range, index) & mask) != 0);
        *used_bits(range, index) |= mask;
        reused += (uint32_t)__builtin_popcountll(*dirty_bits(range, index) & mask);
        *dirty_bits(range, index) &= ~mask;
    }
    range->used_pages += pages;
    range->dirty_pages -= reused;
    if (range->keep_pages < KEEP_MOST) {
        range->keep_pages = least(range->keep_pages + reused, KEEP_MOST);
    }
    range->end = end > range->end ? end : range->end;
    range->high_end = end > range->high_end ? end : range->high_end;
    range->touched_end = end > range->touched_end ? end : range->touched_end;
    return 0;
}

/* A page between used ones is a run for itself: no other is looked for. */
static int give_lone_page(struct strata__range *range, uint32_t page)
{
    uint32_t index = page / WORD_PAGES;
    uint64_t bit = (uint64_t)1 << page % WORD_PAGES;
    uint64_t around = bit | bit << 1 | bit >> 1;
    uint64_t *used = used_bits(range, index);
    if (bit == 1 || bit << 1 == 0 || (*used & around) != around) {
        return 0;
    }
    *used &= ~bit;
    *dirty_bits(range, index) |= bit;
    range->words[page] = 0;
    range->used_pages--;
    range->dirty_pages++;
    range->first_free[0] = least(range->first_free[0], page);
    return 1;
}

void strata__range_give(struct strata__range *range, uint32_t first, uint32_t pages)
{
    uint32_t end = first + pages;
    if (pages == 1 && give_lone_page(range, first)) {
        return;
    }
    for (uint32_t index = first / WORD_PAGES; index * WORD_PAGES < end; index++) {
        uint64_t mask = strata__bits_in_word(index, first, end);
        STRATA__BUG_IF((*used_bits(range, index) & mask) != mask);
        *used_bits(range, index) &= ~mask;
        *dirty_bits(range, index) |= mask;
    }
    memset(&range->words[first], 0, pages * sizeof(range->words[0]));
    range->used_pages -= pages;
    range->dirty_pages += pages;
    uint32_t start = free_run_start(range, first);
    uint32_t run_end = strata__range_next_used(range, end);
    run_end = run_end >= range->end ? range->pages : run_end;
    lower_hints(range, run_end - start, start);
}

/* ---- giving back ---- */

/* The highest dirty run below `before`, as [*first, returned end); 0 if there is none. */
static uint32_t dirty_run_below(
    const struct strata__range *range, uint32_t before, uint32_t *first)
{
    if (before == 0) {
        return 0;
    }
    uint32_t index = (before - 1) / WORD_PAGES;
    uint64_t word = *dirty_bits(range, index) &
                    UINT64_MAX >> (WORD_PAGES - 1 - (before - 1) % WORD_PAGES);
    while (word == 0) {
        if (index == 0) {
            return 0;
        }
        index--;
        word = *dirty_bits(range, index);
    }
    uint32_t high = WORD_PAGES - (uint32_t)__builtin_clzll(word);
    uint32_t end = index * WORD_PAGES + high;
    *first = end;
    for (;;) {
        uint64_t clean = ~(word << (WORD_PAGES - high));
        uint32_t length = clean == 0 ? WORD_PAGES : (uint32_t)__builtin_clzll(clean);
        length = least(length, high);
        *first -= length;
        if (length < high || index == 0) {
            return end;
        }
        index--; /* dirty down to the first page of this word: go on in the one before */
        word = *dirty_bits(range, index);
        high = WORD_PAGES;
    }
}

static void purge_run(struct strata__range *range, uint32_t first, uint32_t end)
{
    int failed = strata__os->purge(
        strata__range_address(range, first), (size_t)(end - first) << STRATA__PAGE_BITS);
    STRATA__BUG_IF(failed != 0);
    for (uint32_t index = first / WORD_PAGES; index * WORD_PAGES < end; index++) {
        *dirty_bits(range, index) &= ~strata__bits_in_word(index, first, end);
    }
    range->dirty_pages -= end - first;
}

/* Brings `end` down to the highest page that is used or dirty. */
static void lower_end(struct strata__range *range)
{
    uint32_t index = (range->end - 1) / WORD_PAGES;
    while (index > 0 && (*used_bits(range, index) | *dirty_bits(range, index)) == 0) {
        index--;
    }
    uint64_t word = *used_bits(range, index) | *dirty_bits(range, index);
    range->end = 1;
    if (word != 0) {
        range->end = index * WORD_PAGES + WORD_PAGES - (uint32_t)__builtin_clzll(word);
    }
    for (unsigned i = 0; i < STRATA__RANGE_HINTS; i++) {
        range->first_free[i] = least(range->first_free[i], range->end);
    }
}

/* Purges the pages of a table from the first that lies wholly behind `keep_bytes`. */
static void purge_behind(char *table, size_t keep_bytes, size_t end_bytes)
{
    size_t keep = strata__page_round_up(keep_bytes);
    size_t end = strata__page_round_up(end_bytes);
    if (end > keep) {
        int failed = strata__os->purge(table + keep, end - keep);
        STRATA__BUG_IF(failed != 0);
    }
}

/* Gives back what the tables hold behind `end`: zeroes, which purged pages read as too. */
static void purge_tables(struct strata__range *range)
{
    purge_behind(
        (char *)range->words, words_bytes(range->end), words_bytes(range->touched_end));
    purge_behind((char *)range->states, states_bytes(range->end + WORD_PAGES - 1),
        states_bytes(range->touched_end + WORD_PAGES - 1));
    range->touched_end = range->end;
}

/* Purges the highest dirty pages until `keep` are left or all left begin before `floor`. */
static uint32_t purge_from_top(struct strata__range *range, uint32_t keep, uint32_t floor)
{
    uint32_t before = range->end;
    uint32_t purged = 0;
    while (range->dirty_pages > keep) {
        uint32_t first = 0;
        uint32_t end = dirty_run_below(range, before, &first);
        STRATA__BUG_IF(end == 0);
        if (end <= floor) {
            break;
        }
        first = first < floor ? floor : first;
        if (range->dirty_pages - (end - first) < keep) {
            first = end - (range->dirty_pages - keep);
        }
        purge_run(range, first, end);
        purged += end - first;
        before = first;
    }
    if (purged > 0) {
        lower_end(range);
        if (strata__range_table_pages(range->touched_end) >
            strata__range_table_pages(range->end) + TABLE_SLACK_PAGES) {
            purge_tables(range);
        }
    }
    return purged;
}

uint32_t strata__range_purge(struct strata__range *range, uint32_t keep)
{
    return purge_from_top(range, keep, 0);
}

void strata__range_keep(struct strata__range *range, uint32_t end)
{
    purge_from_top(range, 0, end);
    uint32_t keep = range->dirty_pages;
    range->keep_pages = keep < KEEP_START ? KEEP_START : keep;
}

uint32_t strata__range_decay(struct strata__range *range)
{
    uint32_t share = range->used_pages / KEEP_USED_SHARE;
    uint32_t most = range->keep_pages > share ? range->keep_pages : share;
    if (range->dirty_pages <= most) {
        return 0;
    }
    uint32_t keep = range->keep_pages / 2;
    range->keep_pages = keep < KEEP_LEAST ? KEEP_LEAST : keep;
    return strata__range_purge(range, most / 2);
}

void strata__range_restart(struct strata__range *range)
{
    uint32_t last = (range->end - 1) / WORD_PAGES;
    for (uint32_t index = 0; index <= last; index++) {
        *dirty_bits(range, index) |= *used_bits(range, index);
        *used_bits(range, index) = 0;
    }
    memset(range->words, 0, range->end * sizeof(range->words[0]));
    range->dirty_pages += range->used_pages;
    range->used_pages = 0;
    range->high_end = 1;
    for (unsigned i = 0; i < STRATA__RANGE_HINTS; i++) {
        range->first_free[i] = 1;
    }
}
