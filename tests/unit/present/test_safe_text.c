/* test_safe_text.c - names that try to steer a terminal, and how wide names are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/safe_text.h"

static void shown_as(const char *text, bool utf8, const char *expected)
{
    struct buffer buffer;

    buffer_init(&buffer);
    safe_text_append(&buffer, text, utf8);
    assert_string_equal(buffer_text(&buffer), expected);
    buffer_release(&buffer);
}

static void defuses_control_characters(void **state)
{
    (void)state;
    shown_as("\033[2Jx\n\t\r\177", true, "?[2Jx????");
    shown_as("a\xc2\x9b"
             "31mb",
        true, "a?31mb");
    shown_as("left\xe2\x80\xaeright\xe2\x81\xa6", true, "left?right?");
}

static void replaces_bytes_that_are_not_utf8(void **state)
{
    (void)state;
    shown_as("a\x9b\xff\xc3", true, "a???");
    shown_as("\xed\xa0\x80", true, "???");
    shown_as("\xc0\xaf", true, "??");
}

static void keeps_only_ascii_on_other_terminals(void **state)
{
    (void)state;
    shown_as("caf\xc3\xa9", true, "caf\xc3\xa9");
    shown_as("caf\xc3\xa9 \x9b", false, "caf? ?");
}

static void counts_columns_not_bytes(void **state)
{
    (void)state;
    assert_int_equal(safe_text_columns("caf\xc3\xa9", true), 4);
    assert_int_equal(safe_text_columns("e\xcc\x81", true), 1);
    assert_int_equal(safe_text_columns("\xe6\x97\xa5\xe6\x9c\xac", true), 4);
    assert_int_equal(safe_text_columns("\xe6\x97\xa5\xe6\x9c\xac", false), 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defuses_control_characters),
        cmocka_unit_test(replaces_bytes_that_are_not_utf8),
        cmocka_unit_test(keeps_only_ascii_on_other_terminals),
        cmocka_unit_test(counts_columns_not_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
