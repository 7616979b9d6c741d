/* test_strata_total.c - rows of classes sum to small blocks, also where classes share units. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/strata_total.h"

enum {
    SLAB = 65536,
    CLASSES = 3,
};

static void r_rows_of_classes_sum_to_small_blocks(void **state)
{
    /* One slab with more blocks than fit, slabs alone, and shared units alone. */
    struct strata_class_facts classes[CLASSES] = {
        {.block_bytes = 288,
            .slabs = 1,
            .in_use_blocks = 231,
            .cached_blocks = 5,
            .free_blocks = 23},
        {.block_bytes = 16, .slabs = 2, .in_use_blocks = 8000, .free_blocks = 192},
        {.block_bytes = 4096, .in_use_blocks = 2, .cached_blocks = 1},
    };
    const uint64_t in_use = UINT64_C(231) * 288 + UINT64_C(8000) * 16 + 2 * 4096;
    const uint64_t cached = 5 * 288 + 4096;
    const struct strata_facts facts = {.state = FACT_OK,
        .in_use_bytes = in_use,
        .cached_bytes = cached,
        .held_bytes = 5 * SLAB,
        .mixed_bytes = 2 * SLAB,
        .classes = classes,
        .class_count = CLASSES};
    struct strata_total total = {0};
    struct strata_kind shared = {0};
    struct strata_kind sum = {0};

    (void)state;
    strata_total_add(&total, &facts);
    for (int i = 0; i < CLASSES; i++) {
        const struct strata_kind kind = strata_class_kind(&classes[i], &shared);
        assert_int_equal(
            kind.held_bytes, kind.in_use_bytes + kind.cached_bytes + kind.free_bytes);
        sum.held_bytes += kind.held_bytes;
        sum.in_use_bytes += kind.in_use_bytes;
        sum.cached_bytes += kind.cached_bytes;
        sum.free_bytes += kind.free_bytes;
    }
    const struct strata_kind rest = strata_shared_kind(&facts, &shared);
    assert_int_equal(rest.in_use_bytes + rest.cached_bytes, 32 * 288 + 3 * 4096);
    assert_int_equal(sum.held_bytes + rest.held_bytes, total.small.held_bytes);
    assert_int_equal(sum.in_use_bytes + rest.in_use_bytes, total.small.in_use_bytes);
    assert_int_equal(sum.cached_bytes + rest.cached_bytes, total.small.cached_bytes);
    assert_int_equal(sum.free_bytes + rest.free_bytes, total.small.free_bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r_rows_of_classes_sum_to_small_blocks),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
