/* test_host_group.c - which processes of a host are one service. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "model/host_group.h"

enum { MAXIMUM = 1 << 20 };

static struct region region;
static struct facts host;
static struct facts *groups;
static size_t group_count;

static int setup(void **state)
{
    (void)state;
    region_init(&region, MAXIMUM);
    host = (struct facts){.target_kind = TARGET_HOST};
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    region_release(&region);
    return 0;
}

static struct process_facts process(int32_t pid, int32_t parent, const char *name)
{
    return (struct process_facts){
        .pid = pid, .parent_pid = parent, .name = (char *)name, .cgroup_index = -1};
}

static void build(struct process_facts *processes, size_t count)
{
    host.processes = processes;
    host.process_count = count;
    assert_int_equal(host_groups_build(&host, &region, &groups, &group_count), 0);
}

/* The group of that name whose first member is pid. */
static const struct facts *group_of(int32_t pid)
{
    for (size_t i = 0; i < group_count; i++) {
        for (size_t j = 0; j < groups[i].process_count; j++) {
            if (groups[i].processes[j].pid == pid) {
                return &groups[i];
            }
        }
    }
    fail_msg("process %d is in no group", (int)pid);
    return NULL;
}

static void joins_workers_and_their_master(void **state)
{
    struct process_facts processes[] = {process(12, 11, "nginx"), process(11, 1, "nginx"),
        process(13, 12, "nginx"), process(20, 1, "nginx"), process(1, 0, "init")};

    (void)state;
    build(processes, 5);
    assert_int_equal(group_count, 3);
    assert_int_equal(group_of(13)->process_count, 3);
    assert_ptr_equal(group_of(13), group_of(11));
    assert_int_equal(group_of(13)->processes[0].pid, 11);
    assert_int_equal(group_of(11)->target_kind, TARGET_POOL);
    assert_int_equal(group_of(20)->process_count, 1);
    assert_int_equal(group_of(20)->target_kind, TARGET_PROCESS);
}

static void joins_strangers_of_one_unit_only_by_name(void **state)
{
    struct cgroup_facts cgroups[] = {
        {.unit = (char *)"a.service"}, {.unit = (char *)"session-1.scope"}};
    struct process_facts processes[] = {process(2, 1, "postgres"),
        process(3, 1, "postgres"), process(4, 1, "helper"), process(5, 1, "postgres"),
        process(6, 1, "postgres"), process(7, 1, "postgres")};

    (void)state;
    host.cgroups = cgroups;
    host.cgroup_count = 2;
    for (size_t i = 0; i < 3; i++) {
        processes[i].cgroup_index = 0;
    }
    processes[3].cgroup_index = 1;
    processes[4].cgroup_index = 1;
    processes[5].cgroup_index = 7;
    build(processes, 6);
    assert_int_equal(group_count, 5);
    assert_ptr_equal(group_of(2), group_of(3));
    assert_int_equal(group_of(2)->target_cgroup, 0);
    assert_int_equal(group_of(5)->process_count, 1);
    assert_int_equal(group_of(6)->process_count, 1);
}

static void parts_the_pools_of_php_fpm(void **state)
{
    struct process_facts processes[] = {process(2, 1, "php-fpm8.2"),
        process(3, 2, "php-fpm8.2"), process(4, 2, "php-fpm8.2"),
        process(5, 2, "php-fpm8.2")};

    (void)state;
    processes[1].title = (char *)"php-fpm: pool www";
    processes[2].title = (char *)"php-fpm: pool api";
    processes[3].title = (char *)"php-fpm: pool www";
    build(processes, 4);
    assert_int_equal(group_count, 3);
    assert_ptr_equal(group_of(3), group_of(5));
    assert_string_equal(group_of(3)->target_name, "pool:www");
    assert_int_equal(group_of(4)->target_kind, TARGET_POOL);
    assert_int_equal(group_of(2)->process_count, 1);
}

/* Two RoadRunner servers: each is a line, and the workers of each are one. */
static void parts_the_workers_of_roadrunner_from_their_server(void **state)
{
    struct process_facts processes[] = {process(1, 0, "systemd"), process(10, 1, "rr"),
        process(11, 10, "php8.2"), process(12, 10, "php8.2"), process(20, 1, "rr"),
        process(21, 20, "php8.2"), process(22, 20, "php8.2"), process(30, 1, "php8.2")};

    (void)state;
    build(processes, sizeof(processes) / sizeof(processes[0]));
    assert_int_equal(group_count, 6);
    assert_int_equal(group_of(10)->process_count, 1);
    assert_int_equal(group_of(11)->process_count, 2);
    assert_int_equal(group_of(21)->process_count, 2);
    assert_int_equal(group_of(30)->process_count, 1);
    assert_string_equal(group_of(11)->target_name, "php8.2");
}

static void ends_on_parents_in_a_circle(void **state)
{
    struct process_facts processes[] = {
        process(2, 3, "a"), process(3, 2, "a"), process(4, 4, "a"), process(5, 1, "a")};

    (void)state;
    processes[3].name = NULL;
    build(processes, 4);
    assert_int_equal(group_of(4)->process_count, 1);
    assert_string_equal(group_of(5)->target_name, "?");
    host.processes = NULL;
}

static void has_no_group_on_an_empty_host(void **state)
{
    (void)state;
    build(NULL, 0);
    assert_int_equal(group_count, 0);
}

static void reports_short_memory(void **state)
{
    struct process_facts processes[] = {process(2, 1, "a"), process(3, 1, "b")};
    struct region small;

    (void)state;
    host.processes = processes;
    host.process_count = 2;
    for (size_t bytes = 0; bytes < 64; bytes += 8) {
        region_init(&small, bytes);
        assert_int_not_equal(host_groups_build(&host, &small, &groups, &group_count), 0);
        region_release(&small);
    }
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(joins_workers_and_their_master),
        CASE(joins_strangers_of_one_unit_only_by_name),
        CASE(parts_the_pools_of_php_fpm),
        CASE(parts_the_workers_of_roadrunner_from_their_server),
        CASE(ends_on_parents_in_a_circle),
        CASE(has_no_group_on_an_empty_host),
        CASE(reports_short_memory),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
