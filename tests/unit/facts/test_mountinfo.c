/* test_mountinfo.c - finding the folder of a cgroup through any set of mounts. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"
#include "facts/mountinfo.h"

enum { REGION_BYTES = 1 << 20 };

static struct region region;
static struct cgroup_mounts mounts;

static int set_up(void **state)
{
    (void)state;
    region_init(&region, REGION_BYTES);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    region_release(&region);
    return 0;
}

static void parse(const char *text)
{
    assert_int_equal(mountinfo_parse(text, &region, &mounts), 0);
}

static void expect_folder(uint32_t version, const char *path, const char *expected)
{
    char *folder = NULL;
    int rc = mountinfo_folder(&mounts, version, path, &region, &folder);

    if (expected == NULL) {
        assert_int_equal(rc, -ENOENT);
        return;
    }
    assert_int_equal(rc, 0);
    assert_string_equal(folder, expected);
}

#define V1(ROOT, POINT)                                                                  \
    "3 2 0:3 " ROOT " " POINT " rw shared:1 - cgroup cgroup rw,memory\n"
#define V2(ROOT, POINT) "4 2 0:4 " ROOT " " POINT " rw - cgroup2 none rw,nsdelegate\n"

static void only_hierarchies_that_matter_are_kept(void **state)
{
    (void)state;
    parse("1 0 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"
          "2 1 0:2 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset,cpuacct\n"
          "2 1 0:2 / /a rw - cgroup cgroup rw,memory_like,not_memory\n" V1("/", "/m")
              V2("/", "/u"));
    assert_int_equal(mounts.count, 2);
    assert_int_equal(mounts.items[0].version, 1);
    assert_string_equal(mounts.items[0].point, "/m");
    assert_int_equal(mounts.items[1].version, 2);
}

static void processors_have_a_hierarchy_of_their_own_or_share_one(void **state)
{
    (void)state;
    parse(V1("/", "/m") "2 1 0:2 / /c rw - cgroup cgroup rw,cpu,cpuacct\n");
    expect_folder(CGROUP_VERSION_1, "/x", "/m/x");
    expect_folder(CGROUP_PROCESSORS, "/x", "/c/x");
    parse("2 1 0:2 / /both rw - cgroup cgroup rw,cpu,memory\n");
    expect_folder(CGROUP_VERSION_1, "/x", "/both/x");
    expect_folder(CGROUP_PROCESSORS, "/x", "/both/x");
}

static void optional_fields_may_be_none_or_many(void **state)
{
    (void)state;
    parse(
        "3 2 0:3 / /a rw - cgroup2 x rw\n"
        "3 2 0:3 / /b rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 x rw\n");
    assert_int_equal(mounts.count, 2);
}

static void lines_that_do_not_fit_are_skipped(void **state)
{
    (void)state;
    parse(
        "\n \n3\n3 2 0:3 / /a rw\n3 2 0:3 / /a rw -\n3 2 0:3 / /a rw - cgroup2\n"
        "3 2 0:3 x /a rw - cgroup2 c rw\n3 2 0:3 / a rw - cgroup2 c rw\n" V2("/", "/u"));
    assert_int_equal(mounts.count, 1);
    parse("");
    assert_int_equal(mounts.count, 0);
}

static void a_path_is_appended_to_the_mount_point(void **state)
{
    (void)state;
    parse(V1("/", "/sys/fs/cgroup/memory") V2("/", "/sys/fs/cgroup/unified"));
    expect_folder(1, "/", "/sys/fs/cgroup/memory");
    expect_folder(1, "/docker/x", "/sys/fs/cgroup/memory/docker/x");
    expect_folder(2, "/a", "/sys/fs/cgroup/unified/a");
    expect_folder(3, "/a", NULL);
}

static void the_root_of_a_mount_is_taken_off(void **state)
{
    (void)state;
    parse(V1("/docker/x", "/m"));
    expect_folder(1, "/docker/x", "/m");
    expect_folder(1, "/docker/x/y", "/m/y");
    expect_folder(1, "/docker/xy", NULL);
    expect_folder(1, "/docker", NULL);
    expect_folder(1, "/", NULL);
}

static void the_closest_mount_wins_and_of_equals_the_last(void **state)
{
    (void)state;
    parse(V2("/", "/a") V2("/docker", "/b") V2("/", "/c"));
    expect_folder(2, "/docker/x", "/b/x");
    expect_folder(2, "/other", "/c/other");
}

static void what_lies_outside_of_a_namespace_is_not_found(void **state)
{
    (void)state;
    parse(V2("/", "/u"));
    expect_folder(2, "/..", NULL);
    expect_folder(2, "/../other", NULL);
    expect_folder(2, "/a/../../etc", NULL);
    expect_folder(2, "/a/..", NULL);
    expect_folder(2, "/..a/b..", "/u/..a/b..");
    /* A mount of the host's hierarchy, seen from inside: its root climbs as well. */
    parse(V2("/../..", "/host"));
    expect_folder(2, "/../../system.slice", "/host/system.slice");
    expect_folder(2, "/../..", "/host");
    expect_folder(2, "/../../../x", NULL);
    expect_folder(2, "/", NULL);
}

static void octal_escapes_become_characters(void **state)
{
    char text[] = "a\\040b\\011\\012\\134c\\04\\999\\400\\";

    (void)state;
    mountinfo_unescape(text);
    assert_string_equal(text, "a b\t\n\\c\\04\\999\\400\\");
    parse(V1("/a\\040b", "/m\\134n"));
    expect_folder(1, "/a b/c", "/m\\n/c");
}

static void a_mount_at_the_root_has_no_double_slash(void **state)
{
    (void)state;
    parse(V2("/", "/"));
    expect_folder(2, "/a", "/a");
}

static void more_mounts_than_the_bound_are_left_out(void **state)
{
    struct buffer text;

    (void)state;
    buffer_init(&text);
    for (int i = 0; i < MOUNTINFO_MAX_MOUNTS + 9; i++) {
        buffer_append_text(&text, V2("/", "/u"));
    }
    parse(buffer_text(&text));
    assert_int_equal(mounts.count, MOUNTINFO_MAX_MOUNTS);
    buffer_release(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            only_hierarchies_that_matter_are_kept, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            processors_have_a_hierarchy_of_their_own_or_share_one, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            optional_fields_may_be_none_or_many, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            lines_that_do_not_fit_are_skipped, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_path_is_appended_to_the_mount_point, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_root_of_a_mount_is_taken_off, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_closest_mount_wins_and_of_equals_the_last, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            what_lies_outside_of_a_namespace_is_not_found, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            octal_escapes_become_characters, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            a_mount_at_the_root_has_no_double_slash, set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            more_mounts_than_the_bound_are_left_out, set_up, tear_down),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
