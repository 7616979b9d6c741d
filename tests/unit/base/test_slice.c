/* test_slice.c - pieces of text by length: empty ones, ends, nothing behind the end. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/slice.h"

static struct slice whole(const char *text)
{
    return (struct slice){text, strlen(text)};
}

static void pieces_come_in_order_and_may_be_empty(void **state)
{
    static const char *const expected[] = {"a", "", "bc", ""};
    struct slice rest = whole("a//bc/");
    struct slice piece;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        assert_true(slice_next(&rest, '/', &piece));
        assert_true(slice_is(piece, expected[i]));
    }
    assert_false(slice_next(&rest, '/', &piece));
    rest = whole("");
    assert_false(slice_next(&rest, '/', &piece));
}

static void nothing_behind_the_end_is_seen(void **state)
{
    const char text[] = {'a', 'b', 'c', 'd'};
    struct slice slice = {text, 2};

    (void)state;
    assert_true(slice_is(slice, "ab"));
    assert_false(slice_is(slice, "abc"));
    assert_false(slice_starts_with(slice, "abc"));
    assert_false(slice_ends_with(slice, "cab"));
    assert_true(slice_ends_with(slice, "b"));
    assert_true(slice_ends_with(slice, ""));
    assert_false(slice_list_has(slice, 'b', "cd"));
}

static void cutting_stops_at_nothing(void **state)
{
    (void)state;
    assert_true(slice_is(slice_cut_front(whole("abc"), 1), "bc"));
    assert_int_equal(slice_cut_front(whole("abc"), 9).bytes, 0);
    assert_int_equal(slice_cut_front((struct slice){NULL, 0}, 1).bytes, 0);
    assert_true(slice_is(slice_cut_suffix(whole("x.scope"), ".scope"), "x"));
    assert_true(slice_is(slice_cut_suffix(whole("x.slice"), ".scope"), "x.slice"));
}

static void words_of_a_list_are_whole(void **state)
{
    (void)state;
    assert_true(slice_list_has(whole("rw,memory"), ',', "memory"));
    assert_false(slice_list_has(whole("rw,memory_recursiveprot"), ',', "memory"));
    assert_false(slice_list_has(whole(""), ',', "memory"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_come_in_order_and_may_be_empty),
        cmocka_unit_test(nothing_behind_the_end_is_seen),
        cmocka_unit_test(cutting_stops_at_nothing),
        cmocka_unit_test(words_of_a_list_are_whole),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
