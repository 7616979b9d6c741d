/* test_kernel_config.c - options of the kernel, plain or packed, and archives that bite. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <zlib.h>

#include "facts/kernel_config.h"

enum { PATH_BYTES = 256, LARGE_ROUNDS = 100000 };

static char folder[] = "/tmp/strata-config-XXXXXX";
static char boot[PATH_BYTES];
static char packed[PATH_BYTES];
static struct facts_root root;

static int set_up(void **state)
{
    char path[PATH_BYTES];

    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof(path), "%s/proc", folder);
    (void)snprintf(packed, sizeof(packed), "%s/proc/config.gz", folder);
    (void)snprintf(boot, sizeof(boot), "%s/boot", folder);
    if (mkdir(path, 0700) != 0 || mkdir(boot, 0700) != 0) {
        return -1;
    }
    (void)snprintf(boot, sizeof(boot), "%s/boot/config-6.1", folder);
    return facts_root_open(&root, folder, NULL);
}

static int tear_down(void **state)
{
    char path[PATH_BYTES];

    (void)state;
    facts_root_close(&root);
    (void)unlink(packed);
    (void)unlink(boot);
    (void)snprintf(path, sizeof(path), "%s/proc", folder);
    (void)rmdir(path);
    (void)snprintf(path, sizeof(path), "%s/boot", folder);
    (void)rmdir(path);
    return rmdir(folder);
}

static void write_packed(const char *text, int rounds)
{
    gzFile file = gzopen(packed, "w");

    assert_non_null(file);
    for (int i = 0; i < rounds; i++) {
        assert_true(gzputs(file, text) >= 0);
    }
    assert_int_equal(gzclose(file), Z_OK);
}

static void write_plain(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void no_file_is_told_from_no(void **state)
{
    bool set = true;

    (void)state;
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_A", &set), -ENOENT);
    assert_int_equal(kernel_config_has(&root, "../boot/x", "CONFIG_A", &set), -ENOENT);
}

static void a_packed_file_is_read(void **state)
{
    bool set = false;

    (void)state;
    write_packed("CONFIG_AB=y\nCONFIG_A=y\n# CONFIG_B is not set\nCONFIG_C=m\n", 1);
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_A", &set), 0);
    assert_true(set);
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_B", &set), 0);
    assert_false(set);
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_C", &set), 0);
    assert_false(set);
}

static void the_file_of_the_release_comes_first(void **state)
{
    bool set = false;

    (void)state;
    write_plain(boot, "CONFIG_B=y\n");
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_B", &set), 0);
    assert_true(set);
    /* Another release has only the packed one. */
    assert_int_equal(kernel_config_has(&root, "6.2", "CONFIG_B", &set), 0);
    assert_false(set);
    assert_int_equal(unlink(boot), 0);
}

static void an_archive_that_unpacks_without_end_is_left(void **state)
{
    bool set = false;

    (void)state;
    write_packed(
        "0123456789012345678901234567890123456789012345678901234567890\n", LARGE_ROUNDS);
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_A", &set), -ENOENT);
    write_plain(packed, "\x1f\x8b\x08 broken");
    assert_int_equal(kernel_config_has(&root, "6.1", "CONFIG_A", &set), -ENOENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_file_is_told_from_no),
        cmocka_unit_test(a_packed_file_is_read),
        cmocka_unit_test(the_file_of_the_release_comes_first),
        cmocka_unit_test(an_archive_that_unpacks_without_end_is_left),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
