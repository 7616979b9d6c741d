/* test_cgroup_lines.c - the lines of /proc/PID/cgroup, hybrid and odd ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/cgroup_lines.h"

enum { REGION_BYTES = 1 << 16 };

static void each_hierarchy_has_its_place(void **state)
{
    static const char text[] = "9:name=systemd:/system.slice/a.service\n"
                               "5:cpu,cpuacct:/c\n"
                               "4:hugetlb,memory:/m:with:colons\n"
                               "0::/u\n";
    struct cgroup_lines lines;
    struct region region;

    (void)state;
    region_init(&region, REGION_BYTES);
    assert_int_equal(cgroup_lines_parse(text, &region, &lines), 0);
    assert_string_equal(lines.memory, "/m:with:colons");
    assert_string_equal(lines.systemd, "/system.slice/a.service");
    assert_string_equal(lines.processors, "/c");
    assert_string_equal(lines.unified, "/u");
    region_release(&region);
}

static void one_hierarchy_may_have_memory_and_processors(void **state)
{
    struct cgroup_lines lines;
    struct region region;

    (void)state;
    region_init(&region, REGION_BYTES);
    assert_int_equal(cgroup_lines_parse("3:cpuset:/s\n2:cpu,memory:/both\n1:cpuacct:/a\n",
                         &region, &lines),
        0);
    assert_string_equal(lines.memory, "/both");
    assert_string_equal(lines.processors, "/both");
    region_release(&region);
}

static void lines_that_do_not_fit_are_skipped(void **state)
{
    static const char text[] = "\n4\n4:memory\n4:memory:\n4:memory:relative\n"
                               "4:memory_like:/a\n7:not-memory:/a\n::\n0::/last";
    struct cgroup_lines lines;
    struct region region;

    (void)state;
    region_init(&region, REGION_BYTES);
    assert_int_equal(cgroup_lines_parse(text, &region, &lines), 0);
    assert_null(lines.memory);
    assert_null(lines.systemd);
    assert_string_equal(lines.unified, "/last");
    assert_int_equal(cgroup_lines_parse("", &region, &lines), 0);
    assert_null(lines.unified);
    region_release(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_hierarchy_has_its_place),
        cmocka_unit_test(one_hierarchy_may_have_memory_and_processors),
        cmocka_unit_test(lines_that_do_not_fit_are_skipped),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
