/* test_process_rules.c - rules/process.def and rules/resident.def at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judged_server.h"

static void lazy_free_is_counted_over_the_mappings(void **state)
{
    struct judged_server *server = *state;
    struct mapping *mapping = judged_server_add_data(server, 100 * MIB);

    mapping->values[MAPPING_FACT_LAZY_FREE] = fact_ok(30 * MIB);
    assert_speaks(&server->judged, "lazy-free", SEVERITY_INFO);
    assert_predicts(judged_finding(&server->judged, "lazy-free"), 30 * MIB, 30 * MIB);
    server->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(50 * MIB);
    assert_speaks(&server->judged, "lazy-free", SEVERITY_WARN);
    server->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(4 * MIB);
    assert_silent(&server->judged, "lazy-free");
}

/* The fix must fit who freed: reports C39 are about Go, C05 about jemalloc. */
static void lazy_free_advice_depends_on_the_allocator(void **state)
{
    struct judged_server *server = *state;

    judged_server_add_data(server, 100 * MIB);
    server->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(50 * MIB);
    assert_non_null(
        strstr(judged_finding(&server->judged, "lazy-free")->fix, "nothing to change"));
    builder_allocator(&server->judged.facts, server->process, ALLOCATOR_GO);
    assert_non_null(
        strstr(judged_finding(&server->judged, "lazy-free")->fix, "madvdontneed=1"));
}

static void huge_pages_warn_only_where_they_are_forced(void **state)
{
    struct judged_server *server = *state;
    struct mapping *mapping = judged_server_add_data(server, 200 * MIB);

    mapping->values[MAPPING_FACT_ANON_HUGE] = fact_ok(180 * MIB);
    server->judged.facts.host.thp_enabled = (char[]){"madvise"};
    assert_speaks(&server->judged, "thp-inflation", SEVERITY_INFO);
    server->judged.facts.host.thp_enabled = (char[]){"always"};
    assert_speaks(&server->judged, "thp-inflation", SEVERITY_WARN);
    assert_predicts(judged_finding(&server->judged, "thp-inflation"), 0, 180 * MIB);
    builder_allocator(&server->judged.facts, server->process, ALLOCATOR_JEMALLOC);
    assert_non_null(
        strstr(judged_finding(&server->judged, "thp-inflation")->fix, "thp:never"));
}

static void untouched_blocks_are_address_space(void **state)
{
    struct judged_server *server = *state;
    struct mapping *mapping = builder_mapping(
        &server->judged.facts, server->process, 64 * MIB, 128 * MIB, "rw-p", "");
    const struct finding *finding;

    builder_set_rss(mapping, 28 * MIB);
    assert_speaks(&server->judged, "untouched-reservation", SEVERITY_INFO);
    finding = judged_finding(&server->judged, "untouched-reservation");
    assert_int_equal(evidence_of(finding, "untouched"), 100 * MIB);
    assert_false(finding->predicts);
    /* What another allocator keeps mapped is its reserve, not the program's. */
    builder_allocator(&server->judged.facts, server->process, ALLOCATOR_JEMALLOC);
    assert_silent(&server->judged, "untouched-reservation");
    server->process->allocators[0].active = false;
    assert_speaks(&server->judged, "untouched-reservation", SEVERITY_INFO);
    /* A heap of an arena is no reservation of the program. */
    builder_span(&server->judged.facts, server->process, SPAN_GLIBC_ARENA_HEAP, 64 * MIB,
        128 * MIB, 28 * MIB);
    assert_silent(&server->judged, "untouched-reservation");
}

static void stacks_are_counted_alive_and_kept(void **state)
{
    struct judged_server *server = *state;
    const struct finding *finding;

    judged_server_set_rss(server, 100 * MIB);
    builder_span(&server->judged.facts, server->process, SPAN_THREAD_STACK, 64 * MIB,
        8 * MIB, 3 * MIB);
    builder_span(&server->judged.facts, server->process, SPAN_CACHED_STACK, 80 * MIB,
        8 * MIB, 5 * MIB);
    assert_speaks(&server->judged, "thread-stacks", SEVERITY_INFO);
    finding = judged_finding(&server->judged, "thread-stacks");
    assert_int_equal(evidence_of(finding, "stacks_resident"), 3 * MIB);
    assert_predicts(finding, 0, 5 * MIB);
    assert_int_equal(evidence_of(finding, "reserved"), 16 * MIB);
    judged_server_set_rss(server, 161 * MIB);
    assert_silent(&server->judged, "thread-stacks");
}

static void nofile_depends_on_a_table_of_that_size(void **state)
{
    struct judged_server *server = *state;
    struct mapping *mapping = judged_server_add_data(server, 300 * MIB);

    server->process->values[PROCESS_FACT_LIMIT_OPEN_FILES] = fact_ok(1048576);
    assert_silent(&server->judged, "limit-nofile");
    server->process->values[PROCESS_FACT_LIMIT_OPEN_FILES] = fact_ok(1073741816);
    assert_speaks(&server->judged, "limit-nofile", SEVERITY_CRITICAL);
    builder_set_rss(mapping, 10 * MIB);
    assert_speaks(&server->judged, "limit-nofile", SEVERITY_WARN);
    mapping->end = mapping->start + GIB;
    assert_speaks(&server->judged, "limit-nofile", SEVERITY_INFO);
}

static void file_pages_are_told_from_memory(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_rss(server, 70 * MIB);
    builder_set_rss(builder_mapping(&server->judged.facts, server->process,
                        UINT64_C(0x700000000000), 64 * MIB, "r--s", "/var/lib/x.db"),
        30 * MIB);
    assert_speaks(&server->judged, "file-pages-look-alarming", SEVERITY_INFO);
    judged_server_set_rss(server, 71 * MIB);
    assert_silent(&server->judged, "file-pages-look-alarming");
}

static void a_residual_is_a_finding_of_its_own(void **state)
{
    struct judged_server *server = *state;
    struct mapping *mapping = builder_mapping(
        &server->judged.facts, server->process, 64 * MIB, GIB, "rw-p", "");

    builder_set_rss(mapping, 3 * MIB);
    assert_speaks(&server->judged, "unexplained-residual", SEVERITY_INFO);
    builder_set_rss(mapping, 64 * MIB);
    assert_speaks(&server->judged, "unexplained-residual", SEVERITY_WARN);
    builder_set_rss(mapping, MIB);
    assert_silent(&server->judged, "unexplained-residual");
}

static void swap_and_hugetlb_are_outside_resident(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_rss(server, 100 * MIB);
    server->process->values[PROCESS_FACT_VM_SWAP] = fact_ok(16 * MIB);
    server->process->values[PROCESS_FACT_HUGETLB] = fact_ok(2 * MIB);
    assert_speaks(&server->judged, "swap", SEVERITY_INFO);
    assert_speaks(&server->judged, "hugetlb", SEVERITY_INFO);
    server->process->values[PROCESS_FACT_VM_SWAP] = fact_ok(34 * MIB);
    assert_speaks(&server->judged, "swap", SEVERITY_WARN);
    server->process->values[PROCESS_FACT_VM_SWAP] = fact_ok(0);
    server->process->values[PROCESS_FACT_HUGETLB] = fact_ok(0);
    assert_silent(&server->judged, "swap");
    assert_silent(&server->judged, "hugetlb");
}

int main(void)
{
#define TEST(name)                                                                       \
    cmocka_unit_test_setup_teardown(name, judged_server_setup, judged_teardown)
    const struct CMUnitTest tests[] = {
        TEST(lazy_free_is_counted_over_the_mappings),
        TEST(lazy_free_advice_depends_on_the_allocator),
        TEST(huge_pages_warn_only_where_they_are_forced),
        TEST(untouched_blocks_are_address_space),
        TEST(stacks_are_counted_alive_and_kept),
        TEST(nofile_depends_on_a_table_of_that_size),
        TEST(file_pages_are_told_from_memory),
        TEST(a_residual_is_a_finding_of_its_own),
        TEST(swap_and_hugetlb_are_outside_resident),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
