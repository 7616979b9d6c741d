/* The class tables: every derived entry is recomputed from the block classes. */
#include "support.h"

#include "sizeclass.h"

/* Zend MM's table, from Zend/zend_alloc_sizes.h: size, elements, pages. */
static const unsigned zend_table[STRATA__BINS][3] = {{8, 512, 1}, {16, 256, 1},
    {24, 170, 1}, {32, 128, 1}, {40, 102, 1}, {48, 85, 1}, {56, 73, 1}, {64, 64, 1},
    {80, 51, 1}, {96, 42, 1}, {112, 36, 1}, {128, 32, 1}, {160, 25, 1}, {192, 21, 1},
    {224, 18, 1}, {256, 16, 1}, {320, 64, 5}, {384, 32, 3}, {448, 9, 1}, {512, 8, 1},
    {640, 32, 5}, {768, 16, 3}, {896, 9, 2}, {1024, 8, 2}, {1280, 16, 5}, {1536, 8, 3},
    {1792, 16, 7}, {2048, 8, 4}, {2560, 8, 5}, {3072, 4, 3}};

static void classes_are_zends(void **state)
{
    (void)state;
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        assert_int_equal(strata__sizeclasses[bin].block_bytes, zend_table[bin][0]);
        assert_int_equal(strata__sizeclasses[bin].zend_blocks, zend_table[bin][1]);
        assert_int_equal(strata__sizeclasses[bin].zend_pages, zend_table[bin][2]);
    }
}

/* Zend's formula for the bin of a size. */
static unsigned zend_bin(size_t bytes)
{
    if (bytes <= 64) {
        return (unsigned)(bytes - (bytes != 0)) >> 3;
    }
    unsigned below = (unsigned)bytes - 1;
    unsigned shift = 32 - (unsigned)__builtin_clz(below) - 3;
    return (below >> shift) + ((shift - 3) << 2);
}

static void bins_of_all_sizes(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes <= STRATA__SMALL_MAX; bytes++) {
        assert_int_equal(strata__bin_of(bytes), zend_bin(bytes));
    }
}

static void check_run(unsigned class, unsigned bin, unsigned pages, unsigned blocks)
{
    unsigned size = strata__sizeclasses[bin].block_bytes;
    long waste = (long)(pages * PAGE) - (long)(blocks * size);
    assert_true(waste >= 0 && waste < (long)size);
    for (unsigned page = 0; page < pages; page++) {
        const struct strata__page_class *entry = &strata__page_classes[class + page];
        assert_int_equal(entry->bin, bin);
        assert_int_equal(entry->back_pages, page);
        for (uintptr_t in_page = 0; in_page < PAGE; in_page++) {
            long offset = (long)(page * PAGE + in_page) - waste;
            uint32_t found = strata__run_offset(entry, (char *)(77 * PAGE + in_page));
            assert_int_equal(found, (uint32_t)offset);
            int start = offset >= 0 && offset % (long)size == 0;
            assert_int_equal(strata__is_block_start(entry, found), start);
            if (offset >= 0) {
                assert_int_equal(strata__block_index(entry, found), offset / (long)size);
            }
        }
    }
}

static void page_classes(void **state)
{
    (void)state;
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        const struct strata__sizeclass *class = &strata__sizeclasses[bin];
        check_run(class->zend_class, bin, class->zend_pages, class->zend_blocks);
        unsigned first = class->compact_class;
        if (first == STRATA__CLASS_TINY) {
            assert_int_equal(strata__page_classes[first].magic, 0);
            first = STRATA__CLASS_SMALL;
        }
        check_run(first, bin, class->compact_pages, class->compact_blocks);
        unsigned waste = class->compact_pages * (unsigned)STRATA__PAGE_BYTES -
                         class->compact_blocks * (unsigned)class->block_bytes;
        assert_true(waste * 8 <= class->compact_pages * STRATA__PAGE_BYTES);
    }
    for (uint32_t offset = 0; offset < PAGE; offset++) {
        for (unsigned class = 0; class < STRATA__CLASS_SMALL; class ++) {
            assert_false(strata__is_block_start(&strata__page_classes[class], offset));
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(classes_are_zends),
        cmocka_unit_test(bins_of_all_sizes),
        cmocka_unit_test(page_classes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
