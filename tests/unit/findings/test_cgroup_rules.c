/* test_cgroup_rules.c - the bill of a cgroup or of a pool: rules/cgroup.def at its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judged_server.h"

static void assert_advises(struct judged_server *server, const char *line)
{
    assert_non_null(
        strstr(judged_finding(&server->judged, "cgroup-near-limit")->fix, line));
}

static void the_limit_is_compared_with_what_stays(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_cgroup(server, 1000 * MIB, 700 * MIB, 0, 0);
    assert_silent(&server->judged, "cgroup-near-limit");
    judged_server_set_cgroup(server, 1000 * MIB, 950 * MIB, 400 * MIB, 0);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_INFO);
    assert_advises(server, "nothing to change");
    judged_server_set_cgroup(server, 1000 * MIB, 950 * MIB, 200 * MIB, 0);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_WARN);
    assert_advises(server, "mem_limit: 1251m");
    judged_server_set_cgroup(server, 1000 * MIB, 950 * MIB, 200 * MIB, 150 * MIB);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_CRITICAL);
    /* Given up with MADV_FREE: anonymous, and on the list of inactive file pages. */
    judged_server_set_cgroup(server, 1000 * MIB, 950 * MIB, 0, 0);
    server->cgroup->values[CGROUP_FACT_ANON] = fact_ok(940 * MIB);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_CRITICAL);
    server->cgroup->values[CGROUP_FACT_INACTIVE_FILE] = fact_ok(600 * MIB);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_INFO);
    assert_int_equal(
        evidence_of(judged_finding(&server->judged, "cgroup-near-limit"), "lazily_freed"),
        600 * MIB);
    server->cgroup->values[CGROUP_FACT_INACTIVE_FILE] = fact_ok(0);
    /* Nobody died of page cache. */
    judged_server_set_cgroup(server, 1000 * MIB, 100 * MIB, 0, 0);
    server->cgroup->values[CGROUP_FACT_EVENTS_OOM_KILL] = fact_ok(3);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_WARN);
    assert_non_null(strstr(judged_finding(&server->judged, "cgroup-near-limit")->summary,
        "killed for the limit of 1000.0 MiB; of what is left 100.0 MiB cannot be "
        "reclaimed"));
    assert_advises(server, "mem_limit: 1251m");
}

static const char *text_of(const struct finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0) {
            return finding->evidence[i].text;
        }
    }
    return "";
}

static void the_next_to_be_killed_may_be_a_neighbour(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_cgroup(server, 1000 * MIB, 950 * MIB, 0, 0);
    server->process->values[PROCESS_FACT_OOM_SCORE] = fact_ok(700);
    assert_string_equal(text_of(judged_finding(&server->judged, "cgroup-near-limit"),
                            "first_to_be_killed"),
        "server (pid 812, oom_score 700)");
    server->judged.facts.competitor_oom_score = fact_ok(900);
    server->judged.facts.competitor_pid = 99;
    server->judged.facts.competitor_name = (char[]){"backup"};
    assert_string_equal(text_of(judged_finding(&server->judged, "cgroup-near-limit"),
                            "first_to_be_killed"),
        "backup (pid 99, oom_score 900)");
}

static void an_ancestor_may_be_fuller(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_cgroup(server, 1000 * MIB, 100 * MIB, 0, 0);
    server->cgroup->values[CGROUP_FACT_LIMIT_EFFECTIVE] = fact_ok(500 * MIB);
    server->cgroup->values[CGROUP_FACT_HEADROOM] = fact_ok(20 * MIB);
    /* What others have below the same limit may be page cache, or not. */
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_WARN);
    const struct finding *finding = judged_finding(&server->judged, "cgroup-near-limit");
    assert_int_equal(evidence_of(finding, "others_below_limit"), 380 * MIB);
    assert_non_null(strstr(finding->summary,
        "up to 480.0 MiB of the limit of 500.0 MiB cannot be reclaimed (96.0 %): "
        "100.0 MiB here"));
    server->cgroup->values[CGROUP_FACT_HEADROOM] = fact_ok(490 * MIB);
    assert_silent(&server->judged, "cgroup-near-limit");
    server->cgroup->values[CGROUP_FACT_HEADROOM] = fact_ok(20 * MIB);
    server->cgroup->values[CGROUP_FACT_USAGE] = fact_ok(400 * MIB);
    assert_speaks(&server->judged, "cgroup-near-limit", SEVERITY_WARN);
    assert_advises(server, "a cgroup above (limit_is_of): there, MemoryMax=721M");
}

static void stalls_need_a_bound_and_a_wait(void **state)
{
    struct judged_server *server = *state;
    struct fact *values;

    judged_server_set_cgroup(server, 1000 * MIB, 390 * MIB, 0, 0);
    values = server->cgroup->values;
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(30000000);
    assert_silent(&server->judged, "cgroup-stalls");
    values[CGROUP_FACT_HIGH] = fact_ok(400 * MIB);
    assert_speaks(&server->judged, "cgroup-stalls", SEVERITY_WARN);
    assert_non_null(
        strstr(judged_finding(&server->judged, "cgroup-stalls")->summary, "MemoryHigh"));
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(5999999);
    assert_speaks(&server->judged, "cgroup-stalls", SEVERITY_INFO);
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(599999);
    assert_silent(&server->judged, "cgroup-stalls");
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(30000000);
    values[CGROUP_FACT_HIGH] = fact_ok(500 * MIB);
    assert_silent(&server->judged, "cgroup-stalls");
    values[CGROUP_FACT_LIMIT] = fact_ok(391 * MIB);
    assert_speaks(&server->judged, "cgroup-stalls", SEVERITY_WARN);
    assert_non_null(
        strstr(judged_finding(&server->judged, "cgroup-stalls")->summary, "MemoryMax"));
}

/* The text this grew from: docker stats 880 MiB, RSS 620 MiB, active page cache 210. */
static void page_cache_explains_docker_stats(void **state)
{
    struct judged_server *server = *state;
    const struct finding *finding;

    judged_server_set_rss(server, 620 * MIB);
    judged_server_set_cgroup(server, 1536 * MIB, 980 * MIB, 310 * MIB, 0);
    server->cgroup->values[CGROUP_FACT_ANON] = fact_ok(600 * MIB);
    server->cgroup->values[CGROUP_FACT_INACTIVE_FILE] = fact_ok(100 * MIB);
    server->cgroup->values[CGROUP_FACT_ACTIVE_FILE] = fact_ok(210 * MIB);
    assert_speaks(&server->judged, "page-cache-in-container", SEVERITY_INFO);
    finding = judged_finding(&server->judged, "page-cache-in-container");
    assert_int_equal(evidence_of(finding, "docker"), 880 * MIB);
    assert_int_equal(evidence_of(finding, "podman"), 980 * MIB);
    assert_int_equal(evidence_of(finding, "non_reclaimable"), 670 * MIB);
    assert_int_equal(evidence_of(finding, "page_cache"), 310 * MIB);
    /* A login session's bill is not the server's. */
    server->cgroup->container_id = NULL;
    assert_silent(&server->judged, "page-cache-in-container");
    server->cgroup->unit = (char[]){"session-3.scope"};
    assert_silent(&server->judged, "page-cache-in-container");
    server->judged.facts.target_kind = TARGET_CGROUP;
    assert_speaks(&server->judged, "page-cache-in-container", SEVERITY_INFO);
    judged_server_set_cgroup(server, 1536 * MIB, 980 * MIB, 90 * MIB, 0);
    assert_silent(&server->judged, "page-cache-in-container");
}

static void slab_and_shmem_are_billed_too(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_cgroup(server, 1000 * MIB, 600 * MIB, 420 * MIB, 410 * MIB);
    assert_speaks(&server->judged, "shmem-charged", SEVERITY_WARN);
    judged_server_set_cgroup(server, 2000 * MIB, 600 * MIB, 420 * MIB, 410 * MIB);
    assert_speaks(&server->judged, "shmem-charged", SEVERITY_INFO);
    judged_server_set_cgroup(server, 2000 * MIB, 600 * MIB, 420 * MIB, 59 * MIB);
    assert_silent(&server->judged, "shmem-charged");

    server->cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE] = fact_ok(60 * MIB);
    assert_speaks(&server->judged, "slab-in-container", SEVERITY_INFO);
    assert_predicts(judged_finding(&server->judged, "slab-in-container"), 0, 60 * MIB);
    server->cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE] = fact_ok(240 * MIB);
    assert_speaks(&server->judged, "slab-in-container", SEVERITY_WARN);
    server->cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE] = fact_ok(59 * MIB);
    assert_silent(&server->judged, "slab-in-container");
}

static void a_vm_matters_for_containers_only(void **state)
{
    struct judged_server *server = *state;

    server->judged.facts.host.hypervisor = (char[]){"Apple Virtualization"};
    assert_silent(&server->judged, "measured-inside-vm");
    judged_server_set_cgroup(server, 1000 * MIB, 1 * MIB, 0, 0);
    assert_speaks(&server->judged, "measured-inside-vm", SEVERITY_INFO);
}

static void a_sum_of_rss_is_compared_with_what_is_there(void **state)
{
    struct judged_server *server = *state;
    const struct finding *finding;

    server->judged.facts.target_kind = TARGET_POOL;
    for (int i = 0; i < 4; i++) {
        struct process_facts *worker =
            builder_process(&server->judged.facts, 900 + i, "php-fpm8.2");
        worker->mappings_have_values = false;
        worker->values[PROCESS_FACT_VM_RSS] = fact_ok(50 * MIB);
        worker->values[PROCESS_FACT_PSS] = fact_ok(20 * MIB);
    }
    assert_speaks(&server->judged, "rss-sum-overstates", SEVERITY_INFO);
    finding = judged_finding(&server->judged, "rss-sum-overstates");
    assert_int_equal(evidence_of(finding, "rss_sum"), 200 * MIB);
    assert_int_equal(evidence_of(finding, "resident"), 80 * MIB);
    assert_int_equal(finding->pid, 0);
}

int main(void)
{
#define TEST(name)                                                                       \
    cmocka_unit_test_setup_teardown(name, judged_server_setup, judged_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_limit_is_compared_with_what_stays),
        TEST(the_next_to_be_killed_may_be_a_neighbour),
        TEST(an_ancestor_may_be_fuller),
        TEST(stalls_need_a_bound_and_a_wait),
        TEST(page_cache_explains_docker_stats),
        TEST(slab_and_shmem_are_billed_too),
        TEST(a_vm_matters_for_containers_only),
        TEST(a_sum_of_rss_is_compared_with_what_is_there),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
