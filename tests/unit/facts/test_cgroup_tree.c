/* test_cgroup_tree.c - members, names and bounds of walks below a cgroup. */
#include <errno.h>
#include <fcntl.h>
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

#include "facts/cgroup.h"
#include "facts/cgroup_tree.h"
#include "fixture.h"

enum { REGION_BYTES = 64 << 20, PATH_BYTES = 8192 };

static struct facts_root root;
static struct cgroup_reader reader;
static struct region region;

static void open_case(const char *name)
{
    fixture_open(&root, name);
    region_init(&region, REGION_BYTES);
    assert_int_equal(cgroup_reader_init(&reader, &root, &region), 0);
}

static void close_case(void)
{
    cgroup_reader_release(&reader);
    region_release(&region);
    facts_root_close(&root);
}

static void members_of_a_cgroup_include_those_below(void **state)
{
    struct cgroup_members members;

    (void)state;
    open_case("cgroup-v2-podman-rootless");
    assert_int_equal(cgroup_members(&reader, "/user.slice", &region, &members), 0);
    assert_int_equal(members.count, 2);
    assert_int_equal(members.pids[0], 8000);
    assert_int_equal(members.pids[1], 8001);
    assert_true(members.complete);
    assert_int_equal(cgroup_members(&reader, "/none", &region, &members), -ENOENT);
    assert_int_equal(
        cgroup_members(&reader, "/user.slice/..", &region, &members), -ENOENT);
    assert_int_equal(members.count, 0);
    close_case();
}

static void expect_matches(const char *target, size_t count, const char *first)
{
    struct cgroup_matches matches;

    assert_int_equal(cgroup_find(&reader, target, &region, &matches), 0);
    if (matches.count != count) {
        fail_msg("'%s' matches %zu", target, matches.count);
    }
    if (count > 0) {
        assert_string_equal(matches.paths[0], first);
    }
}

static void a_name_finds_the_outermost_cgroup_it_means(void **state)
{
    (void)state;
    open_case("cgroup-v2-systemd");
    expect_matches("mariadb", 1, "/system.slice/mariadb.service");
    expect_matches("mariadb.service", 1, "/system.slice/mariadb.service");
    expect_matches("/system.slice/mariadb.service", 1, "/system.slice/mariadb.service");
    expect_matches("system.slice", 1, "/system.slice");
    expect_matches("mariad", 0, NULL);
    expect_matches("", 0, NULL);
    expect_matches("/system.slice/none", 0, NULL);
    expect_matches("/system.slice/../..", 0, NULL);
    close_case();
    open_case("cgroup-v2-podman-rootless");
    /* The scope of conmon has the same id in its name, and is not the container. */
    expect_matches("b194", 1,
        "/user.slice/user-1000.slice/user@1000.service/user.slice/"
        "libpod-b1946ac92492d2347c6235b4d2611184b1946ac92492d2347c6235b4d2611184.scope");
    expect_matches("b19", 0, NULL);
    close_case();
    open_case("cgroup-v1-containerd");
    expect_matches("web", 1, "/default/web");
    close_case();
}

static void a_host_without_cgroups_finds_nothing(void **state)
{
    struct facts facts = {.target_cgroup = -1};
    struct cgroup_members members;
    int32_t index;

    (void)state;
    open_case("odd-process");
    assert_int_equal(reader.version, 0);
    expect_matches("mariadb", 0, NULL);
    assert_int_equal(cgroup_members(&reader, "/", &region, &members), -ENOENT);
    region_init(&facts.region, REGION_BYTES);
    assert_int_equal(cgroup_read_path(&reader, "/", &facts, &index), -EINVAL);
    assert_int_equal(cgroup_find_competitor(&reader, &facts), 0);
    assert_int_equal(facts.competitor_oom_score.state, FACT_ABSENT);
    region_release(&facts.region);
    close_case();
}

/* A tree of our own, which nests deeper than any walk goes and lists odd numbers. */
static char folder[] = "/tmp/strata-cgroup-XXXXXX";

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static void make_folder(const char *name)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s%s", folder, name);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void make_deep_tree(void)
{
    char path[PATH_BYTES];
    size_t used;

    assert_non_null(mkdtemp(folder));
    make_folder("/proc");
    make_folder("/proc/self");
    make_folder("/cg");
    (void)snprintf(path, sizeof(path), "%s/proc/self/mountinfo", folder);
    write_file(path, "3 2 0:3 / /cg rw - cgroup2 c rw\n");
    used = (size_t)snprintf(path, sizeof(path), "%s/cg", folder);
    for (int i = 0; i < CGROUP_MAX_DEPTH + 4; i++) {
        used += (size_t)snprintf(path + used, sizeof(path) - used, "/d");
        assert_int_equal(mkdir(path, 0700), 0);
        size_t end = used;
        (void)snprintf(path + end, sizeof(path) - end, "/cgroup.procs");
        write_file(path, i == 0 ? "7\n7\n0\n-4\nx\n2147483648\n3\n" : "5\n");
        path[end] = '\0';
    }
}

/* Removes what make_deep_tree() made, from the innermost folder outwards. */
static void remove_deep_tree(void)
{
    char path[PATH_BYTES];

    for (int i = CGROUP_MAX_DEPTH + 4; i >= 0; i--) {
        size_t used = (size_t)snprintf(path, sizeof(path), "%s/cg", folder);
        for (int j = 0; j < i; j++) {
            used += (size_t)snprintf(path + used, sizeof(path) - used, "/d");
        }
        (void)snprintf(path + used, sizeof(path) - used, "/cgroup.procs");
        (void)unlink(path);
        path[used] = '\0';
        assert_int_equal(rmdir(path), 0);
    }
    (void)snprintf(path, sizeof(path), "%s/proc/self/mountinfo", folder);
    assert_int_equal(unlink(path), 0);
    (void)snprintf(path, sizeof(path), "%s/proc/self", folder);
    assert_int_equal(rmdir(path), 0);
    (void)snprintf(path, sizeof(path), "%s/proc", folder);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(rmdir(folder), 0);
}

static void deep_nesting_and_odd_lines_are_survived(void **state)
{
    struct cgroup_members members;

    (void)state;
    make_deep_tree();
    assert_int_equal(facts_root_open(&root, folder, NULL), 0);
    region_init(&region, REGION_BYTES);
    assert_int_equal(cgroup_reader_init(&reader, &root, &region), 0);
    assert_int_equal(cgroup_members(&reader, "/d", &region, &members), 0);
    assert_false(members.complete);
    assert_int_equal(members.count, 3);
    assert_int_equal(members.pids[0], 3);
    assert_int_equal(members.pids[1], 5);
    assert_int_equal(members.pids[2], 7);
    close_case();
    remove_deep_tree();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(members_of_a_cgroup_include_those_below),
        cmocka_unit_test(a_name_finds_the_outermost_cgroup_it_means),
        cmocka_unit_test(a_host_without_cgroups_finds_nothing),
        cmocka_unit_test(deep_nesting_and_odd_lines_are_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
