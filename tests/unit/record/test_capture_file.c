/* test_capture_file.c - captures on disk: whole or not at all, private, readable again. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts_of_schema.h"
#include "record/capture_file.h"

static char folder[] = "/tmp/strata-capture-XXXXXX";
static char path[sizeof(folder) + 16];

static int make_folder(void **state)
{
    (void)state;
    if (mkdtemp(folder) == NULL) {
        return -1;
    }
    (void)snprintf(path, sizeof(path), "%s/a.json", folder);
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    (void)unlink(path);
    return rmdir(folder);
}

static void a_saved_capture_loads(void **state)
{
    struct facts facts;
    struct facts again;
    struct stat status;
    struct error error = {0};
    const char *key;

    (void)state;
    facts_of_schema(9, &facts);
    assert_int_equal(capture_save(&facts, path, &error), 0);
    assert_int_equal(stat(path, &status), 0);
    assert_int_equal(status.st_mode & 0777, 0600);
    assert_int_equal(capture_load(path, &again, &error), 0);
    assert_true(facts_are_same(&facts, &again, &key));
    region_release(&facts.region);
    region_release(&again.region);
}

/* The old capture stays when the new one cannot be written, and nothing else is left. */
static void a_failed_save_changes_nothing(void **state)
{
    struct facts facts;
    struct facts again;
    struct error error = {0};
    const char *key;

    (void)state;
    facts_of_schema(9, &facts);
    assert_int_equal(capture_save(&facts, path, &error), 0);
    facts.target_cgroup = INT32_MAX;
    assert_int_equal(capture_save(&facts, path, &error), -EINVAL);
    region_release(&facts.region);
    error_reset(&error);
    assert_int_equal(capture_load(path, &again, &error), 0);
    facts_of_schema(9, &facts);
    assert_true(facts_are_same(&facts, &again, &key));
    region_release(&facts.region);
    region_release(&again.region);
}

static size_t count_files(void)
{
    DIR *directory = opendir(folder);
    size_t count = 0;

    assert_non_null(directory);
    for (struct dirent *entry; (entry = readdir(directory)) != NULL;) {
        count += entry->d_name[0] == '.' ? 0 : 1;
    }
    closedir(directory);
    return count;
}

/* As on a full disk, and with a limit that this test can set. */
static void half_a_file_is_removed(void **state)
{
    struct facts facts;
    struct error error = {0};
    struct rlimit old;
    struct rlimit small;

    (void)state;
    facts_of_schema(9, &facts);
    assert_int_equal(capture_save(&facts, path, &error), 0);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    small = (struct rlimit){100, old.rlim_max};
    (void)signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    int rc = capture_save(&facts, path, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(rc, -EFBIG);
    assert_int_equal(count_files(), 1);
    region_release(&facts.region);
}

static void failures_name_the_file(void **state)
{
    struct facts facts;
    struct error error = {0};
    char text[128];

    (void)state;
    assert_int_equal(capture_load("/nowhere/x", &facts, &error), -ENOENT);
    assert_string_equal(
        error.text, "cannot read capture '/nowhere/x': No such file or directory");
    error_reset(&error);
    assert_int_equal(capture_load(folder, &facts, &error), -EISDIR);
    error_reset(&error);
    facts_of_schema(9, &facts);
    (void)snprintf(text, sizeof(text), "%s/no/x", folder);
    assert_int_equal(capture_save(&facts, text, &error), -ENOENT);
    error_reset(&error);
    assert_int_equal(capture_save(&facts, "/dev/full", &error), -ENOSPC);
    assert_non_null(strstr(error.text, "cannot write capture '/dev/full': No space"));
    region_release(&facts.region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_capture_loads),
        cmocka_unit_test(a_failed_save_changes_nothing),
        cmocka_unit_test(half_a_file_is_removed),
        cmocka_unit_test(failures_name_the_file),
    };

    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
