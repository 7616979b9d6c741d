/* Page runs inside one chunk: the search is compared with a slow one that reads the rule
 * as it is written down; marks are compared with an array of one byte for each page. */
#include "support.h"

#include <string.h>

#include "page.h"

#define PAGES ((uint32_t)STRATA__CHUNK_PAGES)
#define ROUNDS 20000

static void reset(struct strata__chunk *chunk)
{
    memset(chunk, 0, sizeof(*chunk));
    chunk->free_pages = STRATA__CHUNK_FREE_PAGES;
    chunk->free_tail = 1;
    chunk->used_bits[0] = 1;
}

static int used(const struct strata__chunk *chunk, uint32_t page)
{
    return (int)(chunk->used_bits[page / 64] >> page % 64 & 1);
}

/* The rule, page by page: the first of the shortest fitting runs; a run that fills its
 * 64-page word to a boundary at or behind free_tail is the tail. */
static uint32_t slow_search(
    const struct strata__chunk *chunk, uint32_t pages, uint32_t *free_tail)
{
    uint32_t best = 0;
    uint32_t best_length = PAGES;
    for (uint32_t page = 1; page < PAGES;) {
        if (used(chunk, page)) {
            page++;
            continue;
        }
        uint32_t end = page;
        int tail = 0;
        while (end < PAGES && !used(chunk, end)) {
            end++;
            tail |= end % 64 == 0 && (end >= chunk->free_tail || end == PAGES);
        }
        if (tail) {
            int fits = PAGES - page >= pages && PAGES - page < best_length;
            *free_tail = fits ? page + pages : page;
            return fits ? page : best;
        }
        if (end - page == pages) {
            return page;
        }
        if (end - page > pages && end - page < best_length) {
            best = page;
            best_length = end - page;
        }
        page = end;
    }
    return best;
}

/* Page by page: the longest free run, and the start of each. */
static void check_free_runs(const struct strata__chunk *chunk)
{
    uint32_t longest = 0;
    uint32_t start = 1;
    for (uint32_t page = 1; page < PAGES; page++) {
        if (used(chunk, page)) {
            assert_int_equal(strata__page_free_start(chunk, page), start);
            start = page + 1;
        } else if (page + 1 - start > longest) {
            longest = page + 1 - start;
        }
    }
    assert_int_equal(strata__page_free_start(chunk, PAGES), start);
    struct strata__free_run run = {0};
    run = strata__page_longest_free(chunk, run);
    assert_int_equal(run.pages, longest);
    for (uint32_t page = 0; page < run.pages; page++) {
        assert_false(used(chunk, run.first + page));
    }
    struct strata__free_run same = strata__page_longest_free(chunk, run);
    assert_int_equal(same.first, run.first);
    assert_int_equal(same.pages, run.pages);
}

static void search_follows_the_rule(void **state)
{
    (void)state;
    static struct strata__chunk chunk;
    static uint32_t first[PAGES];
    static uint32_t length[PAGES];
    uint32_t runs = 0;
    uint64_t random = 7;
    reset(&chunk);
    for (int round = 0; round < ROUNDS; round++) {
        check_free_runs(&chunk);
        if (runs > 0 && test_random(&random) % 100 < 45) {
            uint32_t i = (uint32_t)(test_random(&random) % runs);
            strata__page_give(&chunk, first[i], length[i]);
            if (chunk.free_tail == first[i] + length[i]) {
                chunk.free_tail = first[i];
            }
            first[i] = first[--runs];
            length[i] = length[runs];
            continue;
        }
        uint32_t pages = 1 + (uint32_t)(test_random(&random) %
                                        (test_random(&random) % 8 == 0 ? 120 : 9));
        uint32_t tail = chunk.free_tail;
        uint32_t wanted = slow_search(&chunk, pages, &tail);
        assert_int_equal(strata__page_search(&chunk, pages), wanted);
        assert_int_equal(chunk.free_tail, tail);
        if (wanted != 0) {
            assert_true(strata__page_range_is_free(&chunk, wanted, pages));
            strata__page_take(&chunk, wanted, pages);
            if (chunk.free_tail == wanted) {
                chunk.free_tail = wanted + pages;
            }
            first[runs] = wanted;
            length[runs++] = pages;
        }
    }
}

static void best_fit_takes_the_shortest(void **state)
{
    (void)state;
    static struct strata__chunk chunk;
    reset(&chunk);
    strata__page_take(&chunk, 1, 500);
    chunk.free_tail = 501;
    strata__page_give(&chunk, 10, 9);
    strata__page_give(&chunk, 100, 5);
    strata__page_give(&chunk, 200, 5);
    assert_int_equal(strata__page_search(&chunk, 4), 100);
    assert_int_equal(strata__page_search(&chunk, 9), 10);
    assert_int_equal(strata__page_search(&chunk, 10), 501);
    assert_int_equal(chunk.free_tail, 511);
    chunk.free_tail = 501;
    assert_int_equal(strata__page_search(&chunk, 12), 0);
    struct strata__free_run none = {0};
    assert_int_equal(strata__page_longest_free(&chunk, none).pages, 11);
    assert_int_equal(chunk.free_pages, 11 + 9 + 5 + 5);
}

static void range_at_the_end(void **state)
{
    (void)state;
    static struct strata__chunk chunk;
    reset(&chunk);
    assert_true(strata__page_range_is_free(&chunk, 1, 511));
    assert_false(strata__page_range_is_free(&chunk, 1, 512));
    strata__page_take(&chunk, 511, 1);
    assert_false(strata__page_range_is_free(&chunk, 1, 511));
    assert_true(strata__page_range_is_free(&chunk, 1, 510));
    assert_int_equal(strata__page_next_used(&chunk, 1), 511);
    assert_int_equal(strata__page_next_free(&chunk, 511), 512);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(search_follows_the_rule),
        cmocka_unit_test(best_fit_takes_the_shortest),
        cmocka_unit_test(range_at_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
