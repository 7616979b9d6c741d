/* Chunks: ring order, the delete rule, the halving average. */
#include "support.h"

#include <stdlib.h>

#include "chunk.h"

static struct strata__chunk_set set;

static int set_up(void **state)
{
    (void)state;
    test_os_install(0, 0);
    return strata__chunk_set_init(&set);
}

static int tear_down(void **state)
{
    (void)state;
    strata__chunk_set_release(&set);
    int leaked = test_os.mapped_bytes != 0;
    test_os_remove();
    return leaked;
}

static size_t held_chunks(void)
{
    assert_int_equal(test_os.mapped_bytes, (set.count + set.cached_count) * CHUNK);
    return set.count + set.cached_count;
}

static void ring_and_front(void **state)
{
    (void)state;
    struct strata__chunk *a = strata__chunk_buy(&set);
    struct strata__chunk *b = strata__chunk_buy(&set);
    struct strata__chunk *c = strata__chunk_buy(&set);
    assert_ptr_equal(set.main->next, a);
    assert_ptr_equal(set.main->prev, c);
    assert_int_equal(c->number, 3);
    strata__chunk_to_front(&set, c);
    assert_ptr_equal(set.main->next, c);
    assert_ptr_equal(set.main->prev, b);
    assert_int_equal(held_chunks(), 4);
    assert_ptr_equal(strata__chunk_find(&set, (char *)b + 12345), b);
    assert_null(strata__chunk_find(&set, &set));
    assert_null(strata__chunk_find(&set, NULL));
}

/* With an average of one chunk and two in use nothing is cached, until the same delete
 * came five times in a row. */
static void repeated_delete_is_cached(void **state)
{
    (void)state;
    struct strata__chunk *kept = strata__chunk_buy(&set);
    for (int i = 0; i < 5; i++) {
        struct strata__chunk *chunk = strata__chunk_buy(&set);
        assert_int_equal(strata__chunk_delete(&set, chunk), CHUNK);
    }
    struct strata__chunk *chunk = strata__chunk_buy(&set);
    assert_int_equal(strata__chunk_delete(&set, chunk), 0);
    assert_int_equal(set.cached_count, 1);
    assert_ptr_equal(strata__chunk_reuse(&set), chunk);
    assert_null(strata__chunk_reuse(&set));
    assert_int_equal(set.purchases, 8);
    assert_int_equal(held_chunks(), 3);
    assert_ptr_equal(kept->next, chunk);
}

/* While the set is smaller than its average, what is deleted is cached. */
static void below_the_average_is_cached(void **state)
{
    (void)state;
    struct strata__chunk *chunk = strata__chunk_buy(&set);
    assert_int_equal(strata__chunk_delete(&set, chunk), 0);
    assert_int_equal(held_chunks(), 2);
    assert_int_equal(strata__chunk_drop_cached(&set), CHUNK);
    assert_int_equal(strata__chunk_drop_cached(&set), 0);
    assert_int_equal(held_chunks(), 1);
}

/* Of a deleted chunk and the cached one the younger goes. */
static void younger_chunk_goes(void **state)
{
    (void)state;
    set.average = 3.0;
    struct strata__chunk *a = strata__chunk_buy(&set);
    struct strata__chunk *b = strata__chunk_buy(&set);
    struct strata__chunk *c = strata__chunk_buy(&set);
    set.average = 4.0;
    assert_int_equal(strata__chunk_delete(&set, b), 0);
    set.average = 1.0;
    assert_int_equal(strata__chunk_delete(&set, a), CHUNK);
    assert_ptr_equal(set.cached, a);
    assert_int_equal(strata__chunk_delete(&set, c), CHUNK);
    assert_ptr_equal(set.cached, a);
    assert_int_equal(held_chunks(), 2);
}

/* One request of 51 chunks on a cold worker, then trivial ones: 51 is the published
 * staircase of 105 MB, 26 13 7 4 2 are its steps of 2 MiB each. */
static void halving_average(void **state)
{
    (void)state;
    const uint32_t steps[] = {26, 13, 7, 4, 2, 1};
    for (int i = 0; i < 50; i++) {
        assert_non_null(strata__chunk_buy(&set));
    }
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        assert_int_equal(strata__chunk_set_restart(&set), steps[i] * CHUNK);
        assert_int_equal(held_chunks(), steps[i]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(ring_and_front, set_up, tear_down),
        cmocka_unit_test_setup_teardown(repeated_delete_is_cached, set_up, tear_down),
        cmocka_unit_test_setup_teardown(below_the_average_is_cached, set_up, tear_down),
        cmocka_unit_test_setup_teardown(younger_chunk_goes, set_up, tear_down),
        cmocka_unit_test_setup_teardown(halving_average, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
