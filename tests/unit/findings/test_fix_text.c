/* test_fix_text.c - lines to paste fit the way the target is run, and are safe to paste. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "findings/fix_text.h"

struct fixture {
    struct facts facts;
    struct snapshot snapshot;
    struct finding_list list;
};

static const struct fix_variable cap[] = {{"MALLOC_ARENA_MAX", "2"}};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    builder_init(&fixture->facts);
    builder_process(&fixture->facts, 812, "mariadbd");
    region_init(&fixture->list.region, 1 << 20);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    region_release(&fixture->list.region);
    snapshot_release(&fixture->snapshot);
    builder_release(&fixture->facts);
    free(fixture);
    return 0;
}

static const char *environment_fix(struct fixture *fixture)
{
    snapshot_release(&fixture->snapshot);
    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    return fix_environment(&fixture->list, &fixture->snapshot, cap, 1);
}

static void a_unit_gets_a_drop_in(void **state)
{
    struct fixture *fixture = *state;

    builder_cgroup(&fixture->facts, 2)->unit = (char[]){"mariadb.service"};
    assert_string_equal(environment_fix(fixture), "# systemctl edit mariadb.service\n"
                                                  "[Service]\n"
                                                  "Environment=MALLOC_ARENA_MAX=2\n"
                                                  "# systemctl restart mariadb.service");
}

static void a_container_gets_a_compose_snippet(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup_facts *cgroup = builder_cgroup(&fixture->facts, 2);

    cgroup->unit = (char[]){"docker-0123.scope"};
    cgroup->container_id = (char[]){"0123"};
    assert_string_equal(environment_fix(fixture), "# compose file, in the service\n"
                                                  "environment:\n"
                                                  "  MALLOC_ARENA_MAX: \"2\"\n"
                                                  "# docker compose up -d");
}

static void a_pod_gets_an_entry_of_its_template(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup_facts *cgroup = builder_cgroup(&fixture->facts, 2);

    cgroup->container_id = (char[]){"0123"};
    cgroup->pod_uid = (char[]){"1-2"};
    assert_non_null(strstr(
        environment_fix(fixture), "env:\n  - {name: MALLOC_ARENA_MAX, value: \"2\"}\n"));
}

static void any_other_process_gets_shell_lines(void **state)
{
    struct fixture *fixture = *state;

    assert_non_null(strstr(environment_fix(fixture), "\nexport MALLOC_ARENA_MAX=2\n"));
    /* A login session is not what runs a server. */
    builder_cgroup(&fixture->facts, 2)->unit = (char[]){"user@1000.service"};
    assert_non_null(strstr(environment_fix(fixture), "export "));
}

/* Found by its own cgroup when no single one bills the target. */
static void the_members_cgroup_is_used_when_the_target_has_none(void **state)
{
    struct fixture *fixture = *state;

    builder_cgroup(&fixture->facts, 2)->unit = (char[]){"redis.service"};
    fixture->facts.target_cgroup = -1;
    fixture->facts.processes[0].cgroup_index = 0;
    assert_non_null(strstr(environment_fix(fixture), "systemctl edit redis.service"));
}

static void hostile_names_are_not_pasted(void **state)
{
    char *const names[] = {(char[]){"a;reboot.service"}, (char[]){"a b.service"},
        (char[]){"$(id).service"}, (char[]){"--now.service"}, (char[]){"a\nb.service"},
        (char[]){"a\\x2db'.service"}};
    struct fixture *fixture = *state;
    struct cgroup_facts *cgroup = builder_cgroup(&fixture->facts, 2);

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        const char *fix;

        cgroup->unit = names[i];
        fix = environment_fix(fixture);
        assert_non_null(strstr(fix, "systemctl edit UNIT\n"));
        assert_null(strstr(fix, names[i]));
        fixture->facts.target_name = names[i];
        assert_string_equal(fix_target(&fixture->list, &fixture->snapshot), "812");
    }
    fixture->facts.target_name = (char[]){"pool:www"};
    assert_string_equal(fix_target(&fixture->list, &fixture->snapshot), "pool:www");
    fixture->facts.target_name = (char[]){"812"};
    assert_string_equal(fix_target(&fixture->list, &fixture->snapshot), "812");
    fixture->facts.target_kind = TARGET_POOL;
    assert_string_equal(fix_target(&fixture->list, &fixture->snapshot), "pool:812");
}

static const struct fix_setting no_swap = {
    .property = "MemorySwapMax",
    .value = "0",
    .compose = "memswap_limit: 1g",
    .pod = "resources: {}",
};

static void properties_follow_the_same_rules(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup_facts *cgroup = builder_cgroup(&fixture->facts, 2);

    cgroup->unit = (char[]){"mariadb.service"};
    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    assert_string_equal(fix_property(&fixture->list, &fixture->snapshot, &no_swap),
        "# systemctl edit mariadb.service\n[Service]\nMemorySwapMax=0\n"
        "# systemctl restart mariadb.service");
    cgroup->container_id = (char[]){"0123"};
    assert_string_equal(fix_property(&fixture->list, &fixture->snapshot, &no_swap),
        "# compose file, in the service\nmemswap_limit: 1g\n# docker compose up -d");
    cgroup->pod_uid = (char[]){"1-2"};
    assert_string_equal(fix_property(&fixture->list, &fixture->snapshot, &no_swap),
        "# pod template, in the container\nresources: {}\n"
        "# kubectl apply -f FILE: the pod is replaced");
}

static void a_bound_of_memory_has_a_name_for_each(void **state)
{
    struct fixture *fixture = *state;
    struct cgroup_facts *cgroup = builder_cgroup(&fixture->facts, 2);

    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    assert_string_equal(
        fix_memory_bound(&fixture->list, &fixture->snapshot, "MemoryHigh", 800),
        "# in the unit that starts it\n[Service]\nMemoryHigh=800M");
    cgroup->container_id = (char[]){"0123"};
    assert_non_null(
        strstr(fix_memory_bound(&fixture->list, &fixture->snapshot, "MemoryMax", 800),
            "\nmem_limit: 800m\n"));
    assert_string_equal(
        fix_option_place(&fixture->snapshot), "the command of the compose file");
    assert_non_null(strstr(
        fix_limit_above(&fixture->list, &fixture->snapshot, 800), "MemoryMax=800M"));
    cgroup->pod_uid = (char[]){"1-2"};
    assert_non_null(
        strstr(fix_memory_bound(&fixture->list, &fixture->snapshot, "MemoryMax", 800),
            "\nresources:\n  limits:\n    memory: 800Mi\n"));
    assert_string_equal(
        fix_option_place(&fixture->snapshot), "the args of the pod template");
    assert_non_null(
        strstr(fix_limit_above(&fixture->list, &fixture->snapshot, 800), " 800Mi"));
}

static void options_of_a_server_stand_before_its_restart(void **state)
{
    static const struct fix_variable off = {"performance_schema", "OFF"};
    struct fixture *fixture = *state;
    struct cgroup_facts *cgroup = builder_cgroup(&fixture->facts, 2);

    cgroup->unit = (char[]){"mariadb.service"};
    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    assert_string_equal(fix_server_options(&fixture->list, &fixture->snapshot, &off, 1),
        "# my.cnf, or a file of its own in conf.d\n[mysqld]\nperformance_schema = OFF\n"
        "# systemctl restart mariadb.service");
    cgroup->container_id = (char[]){"0123"};
    assert_string_equal(fix_server_options(&fixture->list, &fixture->snapshot, &off, 1),
        "# compose file, in the service; words of a command that is there stay in the "
        "list\n"
        "command:\n  - \"--performance_schema=OFF\"\n# docker compose up -d");
}

static void a_variable_is_set_without_a_restart(void **state)
{
    static const struct fix_variable cache = {"thread_cache_size", "64"};
    struct fixture *fixture = *state;

    builder_cgroup(&fixture->facts, 2)->unit = (char[]){"mariadb.service"};
    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    assert_string_equal(fix_server_variable(&fixture->list, &fixture->snapshot, &cache),
        "-- now, in a client of the server: no restart\n"
        "SET GLOBAL thread_cache_size = 64;\n\n"
        "# and for the next start\n"
        "# my.cnf, or a file of its own in conf.d\n[mysqld]\nthread_cache_size = 64");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_unit_gets_a_drop_in),
        TEST(a_container_gets_a_compose_snippet),
        TEST(a_pod_gets_an_entry_of_its_template),
        TEST(any_other_process_gets_shell_lines),
        TEST(the_members_cgroup_is_used_when_the_target_has_none),
        TEST(hostile_names_are_not_pasted),
        TEST(properties_follow_the_same_rules),
        TEST(a_bound_of_memory_has_a_name_for_each),
        TEST(options_of_a_server_stand_before_its_restart),
        TEST(a_variable_is_set_without_a_restart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
