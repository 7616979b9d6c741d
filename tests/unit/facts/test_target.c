/* test_target.c - what a name, a pid, a pool, a unit or a container stands for. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/cgroup.h"
#include "facts/target.h"
#include "fixture.h"

/* tests/fixtures/host: two redis services, nginx, two FPM pools, a container, a session. */
struct target_test {
    struct facts_root root;
    struct region region;
    struct cgroup_reader cgroups;
    struct target target;
    struct error error;
};

enum { PIDS_MAX = 8 };

static int open_host(void **state)
{
    static struct target_test test;

    test = (struct target_test){0};
    region_init(&test.region, 16 << 20);
    fixture_open(&test.root, "host");
    assert_int_equal(cgroup_reader_init(&test.cgroups, &test.root, &test.region), 0);
    *state = &test;
    return 0;
}

static int close_host(void **state)
{
    struct target_test *test = *state;

    cgroup_reader_release(&test->cgroups);
    facts_root_close(&test->root);
    region_release(&test->region);
    return 0;
}

static int find(struct target_test *test, const char *text)
{
    error_reset(&test->error);
    return target_find(
        &test->root, &test->cgroups, text, &test->region, &test->target, &test->error);
}

/* pids ends with 0. */
static void assert_found(struct target_test *test, const char *text,
    enum target_kind kind, const char *name, const int32_t pids[PIDS_MAX])
{
    size_t count = 0;

    if (find(test, text) != 0) {
        fail_msg("'%s': %s", text, test->error.text);
    }
    assert_int_equal(test->target.kind, kind);
    assert_string_equal(test->target.name, name);
    while (pids[count] != 0) {
        count++;
    }
    assert_int_equal(test->target.count, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(test->target.pids[i], pids[i]);
    }
}

static void assert_refused(
    struct target_test *test, const char *text, int code, const char *why)
{
    assert_int_equal(find(test, text), code);
    if (strstr(test->error.text, why) == NULL) {
        fail_msg("'%s': '%s' does not say '%s'", text, test->error.text, why);
    }
}

#define PIDS(...) ((const int32_t[PIDS_MAX]){__VA_ARGS__})

static void a_pid_is_one_process(void **state)
{
    assert_found(*state, "900", TARGET_PROCESS, "nginx", PIDS(900));
    assert_found(*state, "28904", TARGET_PROCESS, "php-fpm8.2", PIDS(28904));
    assert_refused(*state, "4711", -ENOENT, "4711");
    assert_refused(*state, "99999999999999999999", -ENOENT, "99999999999999999999");
    assert_refused(*state, "0", -ENOENT, "'0'");
}

static void a_name_of_one_service_is_a_pool(void **state)
{
    assert_found(*state, "nginx", TARGET_POOL, "nginx", PIDS(900, 901, 902));
    assert_found(*state, "php-fpm8.2", TARGET_POOL, "php-fpm8.2",
        PIDS(28903, 28904, 28905, 28906, 28907, 28908));
    /* Side by side in one container, with no common ancestor of that name. */
    assert_found(*state, "app", TARGET_POOL, "app", PIDS(600, 601));
    assert_found(
        *state, "/opt/app/bin/app", TARGET_POOL, "/opt/app/bin/app", PIDS(600, 601));
    assert_found(*state, "bash", TARGET_PROCESS, "bash", PIDS(800));
}

static void strangers_of_one_name_are_listed(void **state)
{
    assert_refused(*state, "redis-server", -EEXIST,
        "500 redis-server, 11.7 MiB, redis-server.service: /usr/bin/redis-server\n"
        "  501 redis-server, 11.7 MiB, redis-cache.service: ");
    assert_refused(*state, "redis-check-rdb", -EEXIST, "  500 ");
    /* Two of one login session: a session is no service. */
    assert_refused(*state, "sleep", -EEXIST, "810 sleep, 1.1 MiB, session-3.scope");
}

static void a_pool_has_its_workers_and_its_master(void **state)
{
    assert_found(
        *state, "pool:www", TARGET_POOL, "www", PIDS(28903, 28904, 28905, 28906, 28907));
    assert_found(*state, "pool:api v2", TARGET_POOL, "api v2", PIDS(28903, 28908));
    assert_refused(*state, "pool:ww", -ENOENT, "running: 'www', 'api v2'");
}

static void units_containers_and_paths_are_cgroups(void **state)
{
    struct target_test *test = *state;

    assert_found(
        test, "nginx.service", TARGET_UNIT, "nginx.service", PIDS(900, 901, 902));
    assert_string_equal(test->target.cgroup, "/system.slice/nginx.service");
    assert_found(test, "redis-cache", TARGET_UNIT, "redis-cache.service", PIDS(501));
    assert_found(test, "/system.slice/redis-server.service", TARGET_UNIT,
        "redis-server.service", PIDS(500));
    assert_int_equal(find(test, "3f2a9c"), 0);
    assert_int_equal(test->target.kind, TARGET_CGROUP);
    assert_int_equal(test->target.count, 2);
    assert_refused(test, "3f2a9", -EEXIST, "several cgroups match\n  /docker/3f2a9");
    assert_refused(test, "idle.service", -ENOENT, "no process is in it");
    assert_refused(test, "/system.slice/none.service", -ENOENT, "none.service");
}

static void what_has_no_memory_is_told(void **state)
{
    assert_refused(*state, "kthreadd", -ENOENT, "kernel thread");
    assert_refused(*state, "gone-worker", -ENOENT, "process 700 has ended");
}

static void similar_names_are_offered(void **state)
{
    assert_refused(*state, "php-fpm", -ENOENT, "running: 'php-fpm8.2'");
    assert_refused(*state, "redis", -ENOENT, "running: 'redis-server'");
    assert_refused(*state, "nginx-debug", -ENOENT, "running: 'nginx'");
    assert_refused(*state, "xyzzy", -ENOENT, "is called so");
    assert_refused(*state, "", -ENOENT, "''");
}

static void without_cgroups_names_still_work(void **state)
{
    struct target_test *test = *state;

    error_reset(&test->error);
    assert_int_equal(target_find(&test->root, NULL, "nginx.service", &test->region,
                         &test->target, &test->error),
        -ENOENT);
    assert_int_equal(
        target_find(&test->root, NULL, "nginx", &test->region, &test->target, NULL), 0);
}

/*
 * tests/fixtures/host-runtimes: a RoadRunner server with two workers of HTTP, one of jobs
 * below a shell, and a helper; four processes of Swoole; a worker without a server; two
 * masters of PHP-FPM with a pool of the same name.
 */
static int open_runtimes(void **state)
{
    static struct target_test test;

    test = (struct target_test){0};
    region_init(&test.region, 16 << 20);
    fixture_open(&test.root, "host-runtimes");
    assert_int_equal(cgroup_reader_init(&test.cgroups, &test.root, &test.region), 0);
    *state = &test;
    return 0;
}

static void roadrunner_has_its_workers(void **state)
{
    assert_found(*state, "rr", TARGET_POOL, "rr", PIDS(3000, 3001, 3002, 3004));
    assert_found(*state, "3000", TARGET_PROCESS, "rr", PIDS(3000));
    assert_found(*state, "pool:3000", TARGET_POOL, "3000", PIDS(3000, 3001, 3002, 3004));
    assert_found(*state, "pool:http", TARGET_POOL, "http", PIDS(3000, 3001, 3002));
    assert_found(*state, "pool:jobs", TARGET_POOL, "jobs", PIDS(3000, 3004));
    assert_refused(*state, "pool:grpc", -ENOENT, "no RoadRunner worker that RR_MODE");
}

static void a_pool_of_two_masters_is_refused_by_master(void **state)
{
    assert_refused(*state, "pool:www", -EEXIST,
        "together\n"
        "  3300 php-fpm8.2, 3 processes, 80.3 MiB, blue.service: php-fpm: master process "
        "(/etc/php/8.2/fp\n"
        "  3310 php-fpm8.2, 3 processes, 80.3 MiB, green.service: php-fpm");
    assert_found(*state, "pool:3310", TARGET_POOL, "3310", PIDS(3310, 3311, 3312));
}

/* pm = ondemand: the master's file lists it, no process has its title. */
static void r_a_pool_without_workers_is_its_master(void **state)
{
    assert_found(*state, "pool:shop", TARGET_POOL, "shop", PIDS(3310));
    assert_refused(*state, "pool:shops", -ENOENT, "no configuration of a master");
}

static void swoole_is_a_tree_of_one_program(void **state)
{
    assert_refused(
        *state, "php8.2", -EEXIST, "3100 php8.2, 4 processes, 107.1 MiB, swoole.service");
    assert_found(*state, "pool:3100", TARGET_POOL, "3100", PIDS(3100, 3101, 3102, 3103));
    assert_found(*state, "pool:3101", TARGET_POOL, "3101", PIDS(3101, 3102, 3103));
    assert_refused(*state, "pool:4711", -ENOENT, "no process that pid");
}

static void every_failed_allocation_is_reported(void **state)
{
    static const char *const texts[] = {"nginx", "pool:www", "nginx.service", "sleep"};
    struct target_test *test = *state;
    size_t failed = 0;

    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        for (size_t bytes = 0; bytes < (size_t)64 << 10; bytes += 64 + bytes / 8) {
            struct region region;
            region_init(&region, bytes);
            error_reset(&test->error);
            int rc = target_find(&test->root, &test->cgroups, texts[i], &region,
                &test->target, &test->error);
            assert_true(rc == 0 || rc == -ENOMEM || rc == -EEXIST);
            failed += rc == -ENOMEM;
            region_release(&region);
            if (rc == 0) {
                break;
            }
        }
    }
    assert_true(failed > 0);
}

int main(void)
{
#define HOST_TEST(name) cmocka_unit_test_setup_teardown(name, open_host, close_host)
#define RUNTIME_TEST(name)                                                               \
    cmocka_unit_test_setup_teardown(name, open_runtimes, close_host)
    const struct CMUnitTest tests[] = {
        HOST_TEST(a_pid_is_one_process),
        HOST_TEST(a_name_of_one_service_is_a_pool),
        HOST_TEST(strangers_of_one_name_are_listed),
        HOST_TEST(a_pool_has_its_workers_and_its_master),
        HOST_TEST(units_containers_and_paths_are_cgroups),
        HOST_TEST(what_has_no_memory_is_told),
        HOST_TEST(similar_names_are_offered),
        HOST_TEST(without_cgroups_names_still_work),
        RUNTIME_TEST(roadrunner_has_its_workers),
        RUNTIME_TEST(r_a_pool_without_workers_is_its_master),
        RUNTIME_TEST(a_pool_of_two_masters_is_refused_by_master),
        RUNTIME_TEST(swoole_is_a_tree_of_one_program),
        HOST_TEST(every_failed_allocation_is_reported),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
