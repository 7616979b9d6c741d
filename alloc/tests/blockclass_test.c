/* The tables of the block classes against the rule that they follow from. */
#include "support.h"

#include "blockclass.h"
#include "percpu.h"

static size_t rule_bytes(unsigned class)
{
    static const size_t wide[] = {40960, 49152, 65536};
    if (class >= STRATA__WIDE_CLASS) {
        return wide[class - STRATA__WIDE_CLASS];
    }
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

/* Two batches. */
static size_t rule_capacity(unsigned class)
{
    size_t bytes = rule_bytes(class);
    size_t batch = (bytes < 512 ? 8192 : 16384) / bytes;
    batch = batch < 1 ? 1 : batch;
    batch = batch > STRATA__BLOCK_BATCH_MAX ? STRATA__BLOCK_BATCH_MAX : batch;
    return class < STRATA__WIDE_CLASS ? 2 * batch : 0;
}

static size_t rule_most(unsigned class)
{
    size_t most_bytes = class < STRATA__WIDE_CLASS ? 128 << 10 : 256 << 10;
    return class < STRATA__ROOMY_CLASS ? rule_capacity(class)
                                       : most_bytes / rule_bytes(class);
}

static void tables_follow_the_rule(void **state)
{
    (void)state;
    size_t slots = 0;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        const struct strata__block_class *class = &strata__block_classes[i];
        assert_int_equal(class->bytes, rule_bytes(i));
        assert_int_equal(class->blocks, 65536 / class->bytes);
        assert_int_equal(class->capacity, rule_capacity(i));
        assert_int_equal(class->most, rule_most(i));
        assert_true(class->most / 2 <= STRATA__BLOCK_BATCH_MAX);
        slots += class->most;
    }
    assert_int_equal(slots, STRATA__CPU_SLOTS);
    assert_int_equal(rule_bytes(STRATA__WIDE_CLASS - 1), STRATA__BLOCK_MAX);
    assert_int_equal(rule_bytes(STRATA__BLOCK_CLASSES - 1), STRATA__WIDE_MAX);
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
    for (size_t bytes = STRATA__BLOCK_MAX + 1; bytes <= STRATA__WIDE_MAX; bytes++) {
        unsigned class = strata__wide_class_of(bytes);
        assert_true(strata__block_classes[class].bytes >= bytes);
        assert_true(strata__block_classes[class - 1].bytes < bytes);
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
