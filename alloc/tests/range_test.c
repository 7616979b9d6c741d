/* The page range: random takes and gives against one byte for each page. */
#include "support.h"

#include <string.h>

#include "range.h"

#define PAGES ((uint32_t)16384)
#define BUSY 4000U /* pages the random test keeps to */
#define ROUNDS 20000
#define RUNS 512

enum page_state { CLEAN, DIRTY, USED };

static struct strata__range range;
static char *reservation;
static unsigned char model[PAGES];

static int set_up(void **state)
{
    (void)state;
    test_os_install(0, 0);
    memset(model, CLEAN, sizeof(model));
    reservation = strata__os->reserve(strata__range_span(PAGE, PAGES));
    return reservation == NULL || strata__range_init(&range, reservation, PAGE, PAGES);
}

static int tear_down(void **state)
{
    (void)state;
    strata__os->unmap(reservation, strata__range_span(PAGE, PAGES));
    test_os_remove();
    return 0;
}

static void check_model(void)
{
    uint32_t used = 0;
    uint32_t dirty = 0;
    for (uint32_t page = 1; page < PAGES; page++) {
        used += model[page] == USED;
        dirty += model[page] == DIRTY;
    }
    assert_int_equal(range.used_pages, used);
    assert_int_equal(range.dirty_pages, dirty);
    assert_int_equal(strata__range_count_dirty(&range, 0, PAGES), dirty);
    uint32_t page = strata__range_next_used(&range, 1);
    while (page < range.end) {
        assert_int_equal(model[page], USED);
        used--;
        page = strata__range_next_used(&range, page + 1);
    }
    assert_int_equal(used, 0);
}

static uint32_t first_fit(uint32_t pages)
{
    uint32_t run = 0;
    for (uint32_t page = 1; page < PAGES; page++) {
        run = model[page] == USED ? 0 : run + 1;
        if (run == pages) {
            return page - pages + 1;
        }
    }
    return 0;
}

static void purge_highest(uint32_t keep)
{
    uint32_t dirty = 0;
    for (uint32_t page = 1; page < PAGES; page++) {
        if (model[page] == DIRTY && ++dirty > keep) {
            model[page] = CLEAN;
        }
    }
}

static void random_takes_and_gives(void **state)
{
    (void)state;
    static uint32_t first[RUNS];
    static uint32_t length[RUNS];
    uint32_t runs = 0;
    uint64_t random = 11;
    for (int round = 0; round < ROUNDS; round++) {
        uint64_t dice = test_random(&random) % 100;
        if (dice < 50 && runs < RUNS && range.used_pages < BUSY) {
            uint32_t pages = 1 + (uint32_t)(test_random(&random) % (dice < 5 ? 300 : 8));
            uint32_t place = strata__range_search(&range, pages, 1);
            assert_int_equal(place, first_fit(pages));
            assert_int_equal(strata__range_take(&range, place, pages), 0);
            memset(strata__range_address(&range, place), 1, pages * PAGE);
            memset(model + place, USED, pages);
            first[runs] = place;
            length[runs++] = pages;
        } else if (runs > 0 && dice < 98) {
            uint32_t i = (uint32_t)(test_random(&random) % runs);
            strata__range_give(&range, first[i], length[i]);
            memset(model + first[i], DIRTY, length[i]);
            first[i] = first[--runs];
            length[i] = length[runs];
        } else {
            uint32_t keep = (uint32_t)(test_random(&random) % 200);
            strata__range_purge(&range, keep);
            purge_highest(keep);
        }
        if (round % 16 == 0) {
            check_model();
        }
    }
}

static void purged_pages_read_zero(void **state)
{
    (void)state;
    assert_int_equal(strata__range_take(&range, 1, 10), 0);
    char *address = strata__range_address(&range, 1);
    memset(address, 1, 10 * PAGE);
    strata__range_give(&range, 1, 10);
    assert_int_equal(strata__range_purge(&range, 4), 6);
    assert_int_equal(address[3 * PAGE], 1);
    assert_int_equal(address[4 * PAGE], 0);
    assert_int_equal(range.end, 5);
}

/* Freeing alone brings the dirty pages down to a handful, whatever the order. */
static void decay_needs_no_call(void **state)
{
    (void)state;
    assert_int_equal(strata__range_take(&range, 1, 10000), 0);
    for (uint32_t i = 0; i < 10000; i++) {
        strata__range_give(&range, 1 + i * 7 % 10000, 1);
        strata__range_decay(&range);
    }
    assert_int_equal(range.used_pages, 0);
    assert_true(range.dirty_pages <= 16);
}

static void alignment(void **state)
{
    (void)state;
    assert_int_equal(strata__range_take(&range, 1, 3), 0);
    assert_int_equal(strata__range_search(&range, 5, 512), 512);
    assert_int_equal(strata__range_search(&range, 5, 4), 4);
    assert_int_equal(strata__range_search(&range, PAGES - 4, 1), 4);
    assert_int_equal(strata__range_search(&range, PAGES - 3, 1), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(random_takes_and_gives, set_up, tear_down),
        cmocka_unit_test_setup_teardown(purged_pages_read_zero, set_up, tear_down),
        cmocka_unit_test_setup_teardown(decay_needs_no_call, set_up, tear_down),
        cmocka_unit_test_setup_teardown(alignment, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
