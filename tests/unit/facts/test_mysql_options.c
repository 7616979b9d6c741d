/* test_mysql_options.c - user and password out of option files. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/mysql_options.h"

static void expect(const char *text, const char *user, const char *password)
{
    struct mysql_credentials strata = {.user = ""};
    struct mysql_credentials client = {.user = ""};

    mysql_options_parse(text, &strata, &client);
    const struct mysql_credentials *is =
        strata.user[0] != '\0' || strata.has_password ? &strata : &client;
    assert_string_equal(is->user, user);
    assert_string_equal(is->has_password ? is->password : "", password);
    assert_int_equal(is->has_password, *password != '\0');
}

static void the_format_of_option_files(void **state)
{
    (void)state;
    expect("[client]\nuser=anna\npassword=secret\n", "anna", "secret");
    expect("[client]\r\n user = anna \r\npassword = 'a # b'  \r\n", "anna", "a # b");
    expect("[client]\nuser=anna # admin\npassword=\"a\\sb\\\\\"\n", "anna", "a b\\");
    expect("# [client]\n;user=x\n[client]\nuser=anna\nuser=bea", "bea", "");
    expect("[mysqld]\nuser=mysql\n[client-mariadb]\nuser=carl\n", "carl", "");
    expect("user=nobody\n[clients]\nuser=x\n", "", "");
    expect("[client]\npassword\n[client]\nuser\n", "", "");
}

static void the_own_group_goes_first(void **state)
{
    (void)state;
    expect("[strata]\nuser=strata\n[client]\nuser=root\npassword=secret\n", "strata", "");
}

static void what_is_too_long_is_left_out(void **state)
{
    char text[2048] = "[client]\nuser=anna\npassword=";

    (void)state;
    memset(text + strlen(text), 'x', 1000);
    expect(text, "anna", "");
}

static void write_file(const char *path, const char *text, mode_t mode)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, mode), 0);
}

static void files_are_followed_and_guarded(void **state)
{
    char folder[] = "/tmp/strata-test-XXXXXX";
    char path[64];
    char other[64];
    char text[128];
    struct mysql_credentials credentials;

    (void)state;
    assert_non_null(mkdtemp(folder));
    (void)snprintf(path, sizeof(path), "%s/a.cnf", folder);
    (void)snprintf(other, sizeof(other), "%s/b.cnf", folder);
    (void)snprintf(text, sizeof(text), "!include %s\n!includedir %s\n", other, folder);
    write_file(path, text, 0600); /* includes itself: ends by the bound of depth */
    write_file(other, "[client]\nuser=anna\npassword=secret\n", 0600);
    assert_int_equal(mysql_options_read(path, &credentials), 0);
    assert_string_equal(credentials.user, "anna");
    assert_int_equal(chmod(other, 0602), 0);
    assert_int_equal(mysql_options_read(other, &credentials), -EPERM);
    assert_string_equal(credentials.user, "");
    assert_int_equal(mysql_options_read(folder, &credentials), -EINVAL);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(unlink(other), 0);
    assert_int_equal(mysql_options_read(path, &credentials), -ENOENT);
    assert_int_equal(rmdir(folder), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_format_of_option_files),
        cmocka_unit_test(the_own_group_goes_first),
        cmocka_unit_test(what_is_too_long_is_left_out),
        cmocka_unit_test(files_are_followed_and_guarded),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
