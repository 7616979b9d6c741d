/* test_collect.c - whole readings of captured trees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts/collect.h"
#include "facts/environment.h"
#include "collected.h"
#include "fixture.h"

/* Addresses of RoadRunner's servers may hold passwords; its mode does not. */
static void only_named_settings_are_taken_from_an_environment(void **state)
{
    static const char text[] =
        "RR_RELAY=tcp://user:secret@127.0.0.1:6001\0RR_MODE=http\0RR_MODEL=x";
    struct process_facts process = {0};
    struct region region;

    (void)state;
    region_init(&region, 1 << 16);
    assert_int_equal(environment_parse(text, sizeof(text), &region, &process), 0);
    assert_int_equal(process.environment_count, 1);
    assert_string_equal(process.environment[0].name, "RR_MODE");
    assert_string_equal(process.environment[0].value, "http");
    region_release(&region);
}

static void a_captured_tree_is_read_as_far_as_it_goes(void **state)
{
    struct facts_root root;
    struct facts facts;
    struct error error = {0};

    (void)state;
    fixture_open(&root, "odd-process");
    assert_int_equal(facts_collect(&root, "30176", COLLECT_EXPLAIN, &facts, &error), 0);
    const struct process_facts *process = &facts.processes[0];
    assert_string_equal(process->name, "we) R 1 (x\n\t");
    assert_string_equal(process->title, "/srv/fixture/q");
    assert_string_equal(process->executable, "/srv/fixture/q");
    assert_true(process->executable_deleted);
    assert_int_equal(process->mapping_count, 33);
    assert_int_equal(collected_value(process, PROCESS_FACT_OOM_SCORE), 667);
    assert_int_equal(collected_value(process, PROCESS_FACT_MINOR_FAULTS), 5432);
    assert_int_equal(collected_value(process, PROCESS_FACT_MAJOR_FAULTS), 7);
    assert_int_equal(process->environment_count, 4);
    /* No rollup and no pagemap was captured: that is said, and nothing else is lost. */
    assert_int_equal(process->values[PROCESS_FACT_PSS].state, FACT_ABSENT);
    assert_non_null(collected_gap(&facts, "smaps_rollup"));
    assert_non_null(collected_gap(&facts, "memory"));
    assert_int_equal(facts.unique_bytes.state, FACT_ABSENT);
    /* Its allocator is told by the mapped libc alone. */
    assert_int_equal(process->allocator_count, 1);
    assert_int_equal(process->allocators[0].kind, ALLOCATOR_GLIBC);
    region_release(&facts.region);
    facts_root_close(&root);
}

static void a_host_is_read_largest_first(void **state)
{
    struct facts_root root;
    struct facts facts;
    struct error error = {0};

    (void)state;
    fixture_open(&root, "host");
    assert_int_equal(facts_collect_host(&root, COLLECT_OVERVIEW, &facts, &error), 0);
    assert_int_equal(facts.target_kind, TARGET_HOST);
    assert_int_equal(facts.process_count, 18); /* no kernel threads, no zombie */
    assert_int_equal(facts.processes[0].pid, 28904);
    assert_int_equal(collected_value(&facts.processes[0], PROCESS_FACT_PSS), 17587 << 10);
    for (size_t i = 1; i < facts.process_count; i++) {
        assert_true(collected_value(&facts.processes[i - 1], PROCESS_FACT_VM_RSS) >=
                    collected_value(&facts.processes[i], PROCESS_FACT_VM_RSS));
        assert_false(facts.processes[i].kernel_thread);
        assert_true(facts.processes[i].cgroup_index >= 0);
    }
    region_release(&facts.region);
    facts_root_close(&root);
}

static void the_bill_is_that_of_the_target(void **state)
{
    struct facts_root root;
    struct facts facts;
    struct error error = {0};

    (void)state;
    fixture_open(&root, "host");
    assert_int_equal(
        facts_collect(&root, "pool:www", COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.process_count, 5);
    assert_true(facts.target_cgroup >= 0);
    assert_string_equal(
        facts.cgroups[facts.target_cgroup].path, "/system.slice/php8.2-fpm.service");
    region_release(&facts.region);
    assert_int_equal(
        facts_collect(&root, "nginx.service", COLLECT_EXPLAIN, &facts, &error), 0);
    assert_int_equal(facts.target_kind, TARGET_UNIT);
    assert_int_equal(facts.target_cgroup, 0);
    assert_string_equal(facts.cgroups[0].path, "/system.slice/nginx.service");
    region_release(&facts.region);
    facts_root_close(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_named_settings_are_taken_from_an_environment),
        cmocka_unit_test(a_captured_tree_is_read_as_far_as_it_goes),
        cmocka_unit_test(a_host_is_read_largest_first),
        cmocka_unit_test(the_bill_is_that_of_the_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
