/* test_region.c - growth, bounds, and that nothing handed out earlier moves. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/region.h"

enum { ITEMS = 1000, BOUND_BYTES = 1 << 16 };

static void an_array_keeps_its_items_while_it_grows(void **state)
{
    struct region region;
    uint32_t *items = NULL;

    (void)state;
    region_init(&region, 1 << 20);
    for (size_t i = 0; i < ITEMS; i++) {
        uint32_t *place = region_grow(&region, &items, i, ITEMS, sizeof(*items));
        assert_non_null(place);
        assert_int_equal(*place, 0);
        *place = (uint32_t)i + 1;
    }
    for (size_t i = 0; i < ITEMS; i++) {
        assert_int_equal(items[i], i + 1);
    }
    assert_null(region_grow(&region, &items, ITEMS, ITEMS, sizeof(*items)));
    region_release(&region);
}

static void the_bound_holds_and_is_not_passed_by_overflow(void **state)
{
    struct region region;
    size_t taken = 0;

    (void)state;
    region_init(&region, BOUND_BYTES);
    assert_null(region_alloc(&region, SIZE_MAX));
    assert_null(region_alloc(&region, SIZE_MAX - 8));
    assert_null(region_alloc(&region, BOUND_BYTES + 1));
    while (region_alloc(&region, 100) != NULL) {
        taken += 100;
        assert_true(taken <= BOUND_BYTES);
    }
    assert_true(taken > BOUND_BYTES / 2);
    region_release(&region);
    assert_int_equal(region.used_bytes, 0);
}

static void pieces_are_zeroed_aligned_and_apart(void **state)
{
    struct region region;

    (void)state;
    region_init(&region, 1 << 20);
    for (size_t bytes = 0; bytes < 300; bytes++) {
        char *piece = region_alloc(&region, bytes);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < bytes; i++) {
            assert_int_equal(piece[i], 0);
        }
        memset(piece, 0xff, bytes);
    }
    region_release(&region);
}

static void text_is_copied_and_terminated(void **state)
{
    struct region region;

    (void)state;
    region_init(&region, 4096);
    assert_string_equal(region_copy(&region, "arena heap", 5), "arena");
    assert_string_equal(region_printf(&region, "%s=%d", "max", 2), "max=2");
    assert_null(region_copy_text(&region, NULL));
    assert_null(region_copy(&region, "x", SIZE_MAX));
    region_release(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_keeps_its_items_while_it_grows),
        cmocka_unit_test(the_bound_holds_and_is_not_passed_by_overflow),
        cmocka_unit_test(pieces_are_zeroed_aligned_and_apart),
        cmocka_unit_test(text_is_copied_and_terminated),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
