/* The tables of the block classes against the rule that they follow from. */
#include "support.h"

#include "blockclass.h"
#include "percpu.h"

static size_t rule_bytes(unsigned class)
{
    if (class == 0) {
        return 8;
    }
    if (class <= 8) {
        return 16 * (size_t) class;
    }
    size_t bytes = 128;
    for (unsigned i = 9; i <= class; i++) {
        size_t doubling = (size_t)1 << (63 - __builtin_clzll(bytes));
        bytes += doubling / (doubling < 4096 ? 8 : 4);
    }
    return bytes;
}

static void tables_follow_the_rule(void **state)
{
    (void)state;
    size_t first = 0;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        const struct strata__block_class *class = &strata__block_classes[i];
        assert_int_equal(class->bytes, rule_bytes(i));
        assert_int_equal(class->blocks, 65536 / class->bytes);
        assert_int_equal(class->first, first);
        assert_true(class->batch >= 1 && class->batch <= STRATA__BLOCK_BATCH_MAX);
        size_t most_bytes = class->bytes < 512 ? 8192 : 16384;
        assert_true(class->batch * class->bytes <= most_bytes || class->batch == 1);
        assert_int_equal(class->capacity, 2 * class->batch);
        first += class->capacity;
    }
    assert_int_equal(first, STRATA__CPU_SLOTS);
    assert_int_equal(rule_bytes(STRATA__BLOCK_CLASSES - 1), STRATA__BLOCK_MAX);
}

static void every_size_has_the_smallest_class(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= STRATA__BLOCK_MAX; bytes++) {
        unsigned class = strata__block_class_of(bytes);
        assert_true(class < STRATA__BLOCK_CLASSES);
        assert_true(strata__block_classes[class].bytes >= bytes);
        assert_true(class == 0 || strata__block_classes[class - 1].bytes < bytes);
    }
}

static void every_offset_has_its_index(void **state)
{
    (void)state;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        const struct strata__block_class *class = &strata__block_classes[i];
        for (size_t offset = 0; offset < 65536; offset++) {
            assert_int_equal(strata__block_index(class, offset), offset / class->bytes);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tables_follow_the_rule),
        cmocka_unit_test(every_size_has_the_smallest_class),
        cmocka_unit_test(every_offset_has_its_index),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
