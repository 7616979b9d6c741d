/* test_error.c - the first failure wins and a long text is cut, not overrun. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/error.h"

static void the_first_failure_wins(void **state)
{
    struct error error = {0};

    (void)state;
    assert_int_equal(error_set(&error, -ENOENT, "cannot open '%s'", "smaps"), -ENOENT);
    assert_int_equal(error_set(&error, -EACCES, "later"), -EACCES);
    assert_int_equal(error.code, -ENOENT);
    assert_string_equal(error.text, "cannot open 'smaps'");
    error_reset(&error);
    assert_int_equal(error.code, 0);
    assert_string_equal(error.text, "");
    assert_int_equal(error_set(NULL, -EIO, "nobody listens"), -EIO);
}

static void a_long_text_is_cut(void **state)
{
    struct error error = {0};
    char name[2 * ERROR_TEXT_BYTES];

    (void)state;
    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    (void)error_set(&error, -ENOENT, "%s", name);
    assert_int_equal(strlen(error.text), ERROR_TEXT_BYTES - 1);
}

static void a_failure_without_words_has_the_text_of_its_code(void **state)
{
    struct error error = {0};

    (void)state;
    assert_string_equal(error_text(&error, -ENOMEM), strerror(ENOMEM));
    (void)error_set(&error, -ENOENT, "cannot open 'smaps'");
    assert_string_equal(error_text(&error, -ENOMEM), "cannot open 'smaps'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_failure_wins),
        cmocka_unit_test(a_long_text_is_cut),
        cmocka_unit_test(a_failure_without_words_has_the_text_of_its_code),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
