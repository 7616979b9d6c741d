/* Slabs that become units of many classes, and what these hand out and take back. */
#include "support.h"

#include <string.h>

#include "front.h"
#include "front_figures.h"
#include "mixed.h"
#include "mixed_figures.h"
#include "units.h"

enum { SURVIVORS_APART = 20, ROUNDS = 3000, HELD_MAX = 400 };

static struct strata__mixed_stats mixed_stats(void)
{
    struct strata__mixed_stats stats;
    strata__mixed_get_stats(&stats);
    return stats;
}

/* Fills slabs of a class and frees all but every so many-th block. */
static size_t leave_survivors(size_t bytes, void **survivors, size_t blocks)
{
    static void *all[200000];
    size_t kept = 0;
    for (size_t i = 0; i < blocks; i++) {
        all[i] = strata__front_alloc(bytes);
        assert_non_null(all[i]);
        memset(all[i], (int)(i % 251), bytes);
    }
    for (size_t i = 0; i < blocks; i++) {
        if (i % SURVIVORS_APART == 0) {
            survivors[kept++] = all[i];
        } else {
            strata__front_free(all[i]);
        }
    }
    return kept;
}

/* What survivors of one size leave is used by the next size, before any new memory. */
static void sizes_share_what_is_left(void **state)
{
    (void)state;
    static void *survivors[20000];
    static void *others[20000];
    size_t kept = leave_survivors(100, survivors, 100000);
    strata__front_trim();
    size_t used = strata__units_used_bytes();
    size_t units = mixed_stats().units;
    assert_in_range(units, 0, 1); /* the class began in one */
    for (size_t i = 0; i < 20000; i++) {
        others[i] = strata__front_alloc(300);
        memset(others[i], 7, 300);
    }
    assert_true(mixed_stats().units > units + 1);
    assert_in_range(strata__units_used_bytes(), used, used + 4 * STRATA__UNIT_BYTES);
    strata__front_check();
    for (size_t i = 0; i < kept; i++) {
        const unsigned char *bytes = survivors[i];
        assert_int_equal(bytes[0], i * SURVIVORS_APART % 251);
        assert_int_equal(bytes[99], i * SURVIVORS_APART % 251);
        strata__front_free(survivors[i]);
    }
    strata__front_check();
    for (size_t i = 0; i < 20000; i++) {
        strata__front_free(others[i]);
    }
    strata__front_trim();
    strata__front_check();
    assert_int_equal(mixed_stats().units, 0);
    assert_int_equal(mixed_stats().touched_bytes, 0);
}

struct held {
    void *block;
    unsigned class;
};

static void put_back(struct held *held)
{
    const unsigned char *bytes = held->block;
    size_t length = strata__block_classes[held->class].bytes;
    assert_int_equal(bytes[0], held->class);
    assert_int_equal(bytes[length - 1], held->class);
    strata__mixed_flush(held->class, &held->block, 1);
    held->block = NULL;
}

/* Random classes and alignments, each recounted now and then; no two blocks overlap. */
static void any_class_fits_anywhere(void **state)
{
    (void)state;
    static struct held held[HELD_MAX];
    uint64_t random = 11;
    for (unsigned i = 0; i < ROUNDS * 10; i++) {
        struct held *slot = &held[test_random(&random) % HELD_MAX];
        if (slot->block != NULL) {
            put_back(slot);
        }
        slot->class = STRATA__SLAB_CLASSES +
                      (unsigned)(test_random(&random) %
                                 (STRATA__BLOCK_CLASSES - 8 - STRATA__SLAB_CLASSES));
        size_t alignment =
            test_random(&random) % 4 != 0 ? 1 : (size_t)32 << test_random(&random) % 8;
        assert_int_equal(
            strata__mixed_refill(slot->class, &slot->block, 1, alignment, 1), 1);
        assert_int_equal((uintptr_t)slot->block % (alignment < 16 ? 16 : alignment), 0);
        memset(slot->block, (int)slot->class, strata__block_classes[slot->class].bytes);
        if (i % 100 == 0) {
            strata__mixed_check();
        }
        if (i % 1000 == 0) {
            strata__mixed_sweep(i % 3000 == 0);
        }
    }
    for (unsigned i = 0; i < HELD_MAX; i++) {
        if (held[i].block != NULL) {
            put_back(&held[i]);
        }
    }
    strata__mixed_check();
    strata__mixed_sweep(1);
    assert_int_equal(mixed_stats().units, 0);
}

/* A page whose granules are all free goes at the second look, the others stay. */
static void free_pages_go_back(void **state)
{
    (void)state;
    void *blocks[16];
    unsigned class = strata__block_class_of(4096);
    assert_int_equal(strata__mixed_refill(class, blocks, 16, 4096, 1), 16);
    assert_int_equal(mixed_stats().touched_bytes, STRATA__UNIT_BYTES);
    strata__mixed_flush(class, blocks + 1, 14);
    assert_int_equal(strata__mixed_sweep(0), 0);
    assert_int_equal(strata__mixed_sweep(0), 14 * 4096);
    assert_int_equal(mixed_stats().touched_bytes, 2 * 4096);
    strata__mixed_flush(class, blocks, 1);
    strata__mixed_flush(class, blocks + 15, 1);
    strata__mixed_sweep(1);
    assert_int_equal(mixed_stats().units, 0);
}

static void inner_addresses_are_no_blocks(void **state)
{
    (void)state;
    void *block = NULL;
    unsigned class = strata__block_class_of(1000);
    assert_int_equal(strata__mixed_refill(class, &block, 1, 64, 1), 1);
    uint64_t entry = strata__unitmap_get(block);
    assert_int_equal(strata__mixed_class(entry, block), class);
    for (size_t at = 1; at < 1000; at++) {
        assert_int_equal(
            strata__mixed_class(entry, (char *)block + at), STRATA__BLOCK_CLASSES);
    }
    strata__mixed_flush(class, &block, 1);
    assert_int_equal(strata__mixed_class(entry, block), STRATA__BLOCK_CLASSES);
    strata__mixed_sweep(1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_share_what_is_left),
        cmocka_unit_test(any_class_fits_anywhere),
        cmocka_unit_test(free_pages_go_back),
        cmocka_unit_test(inner_addresses_are_no_blocks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
