/* test_since.c - a promise beside what came: whose bytes, whether the change was made, and fairness. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "findings/since.h"

enum { MOST_FINDINGS = 4, HOUR = 3600 };

/* One moment: facts, the snapshot of them and the findings that the test wants to have been told. */
struct moment {
    struct facts facts;
    struct process_facts *process;
    struct snapshot snapshot;
    struct finding items[MOST_FINDINGS];
    struct finding_list list;
};

struct fixture {
    struct moment before;
    struct moment now;
    struct since since;
    struct mysql_facts servers[2];
    struct fpm_pool_facts pools[2][2];
    struct zend_heap_facts heaps[2];
    const char *doubt;
};

static void begin(struct moment *moment, int32_t pid, uint64_t start, uint64_t taken)
{
    builder_init(&moment->facts);
    moment->process = builder_process(&moment->facts, pid, "server");
    moment->process->start_time_ticks = start * 100;
    moment->process->start_unix_seconds = 1000000 + start;
    moment->facts.taken_at_unix_ns = (int64_t)(1000000 + taken) * 1000000000;
    moment->list.items = moment->items;
}

/* Arenas of 200 MiB with so much free and resident, below a resident set of 400 MiB. */
static void fill(struct moment *moment, uint64_t free_bytes, uint64_t resident)
{
    struct glibc_arena *arena =
        builder_arena(&moment->facts, moment->process, true, 200 * MIB);

    arena->in_use_bytes = 40 * MIB;
    arena->free_bytes = 160 * MIB;
    arena->resident_bytes = 40 * MIB + free_bytes;
    arena->resident_state = FACT_OK;
    arena->free_resident_bytes = free_bytes;
    arena->free_shared_bytes = fact_ok(0);
    moment->process->glibc.parameters.state = FACT_OK;
    builder_set_rss(builder_mapping(&moment->facts, moment->process, 0x7f0000000000,
                        800 * MIB, "rw-p", ""),
        resident);
}

static struct finding *promise(
    struct moment *moment, const char *rule, uint64_t low, uint64_t high)
{
    struct finding *finding = &moment->items[moment->list.count++];

    *finding = (struct finding){.rule = rule_find(rule),
        .predicts = true,
        .predicted_low_bytes = low,
        .predicted_high_bytes = high,
        .confidence = CONFIDENCE_LIKELY};
    assert_non_null(finding->rule);
    return finding;
}

/* A server of an hour, and its next start, as old: 158 MiB free in malloc and 48. */
static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    assert_non_null(fixture);
    begin(&fixture->before, 812, 0, HOUR);
    begin(&fixture->now, 900, 2 * HOUR, 3 * HOUR);
    fill(&fixture->before, 158 * MIB, 400 * MIB);
    fill(&fixture->now, 48 * MIB, 290 * MIB);
    promise(&fixture->before, "glibc-arenas", 98 * MIB, 120 * MIB);
    fixture->now.process->glibc.parameters.arena_max = 2;
    *state = fixture;
    return 0;
}

static void compare(struct fixture *fixture)
{
    const struct since_moment before = {
        &fixture->before.snapshot, &fixture->before.list, fixture->doubt};
    const struct since_moment now = {&fixture->now.snapshot, &fixture->now.list, NULL};

    since_release(&fixture->since);
    snapshot_release(&fixture->before.snapshot);
    snapshot_release(&fixture->now.snapshot);
    assert_int_equal(
        snapshot_build(&fixture->before.facts, &fixture->before.snapshot), 0);
    assert_int_equal(snapshot_build(&fixture->now.facts, &fixture->now.snapshot), 0);
    assert_int_equal(since_build(&before, &now, "before.strata", &fixture->since), 0);
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    since_release(&fixture->since);
    snapshot_release(&fixture->before.snapshot);
    snapshot_release(&fixture->now.snapshot);
    builder_release(&fixture->before.facts);
    builder_release(&fixture->now.facts);
    free(fixture);
    return 0;
}

static void assert_verdict(struct fixture *fixture, size_t i, enum since_verdict verdict)
{
    compare(fixture);
    assert_true(i < fixture->since.promise_count);
    assert_string_equal(since_verdict_names[fixture->since.promises[i].verdict],
        since_verdict_names[verdict]);
}

static struct glibc_arena *arena_now(struct fixture *fixture)
{
    return &fixture->now.process->glibc.arenas[0];
}

static void a_promise_is_kept_within_its_range(void **state)
{
    struct fixture *fixture = *state;

    assert_verdict(fixture, 0, SINCE_AS_PROMISED);
    assert_true(fixture->since.restarted);
    assert_null(fixture->since.unlike);
    assert_int_equal(since_fell_bytes(&fixture->since.promises[0]), 110 * MIB);
    assert_string_equal(
        fixture->since.promises[0].measure, "resident and free in malloc");
    assert_string_equal(fixture->since.promises[0].force_text, "at most 2 arenas");

    arena_now(fixture)->free_resident_bytes = 61 * MIB;
    assert_verdict(fixture, 0, SINCE_LESS);
    arena_now(fixture)->free_resident_bytes = 60 * MIB;
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);
    arena_now(fixture)->free_resident_bytes = 38 * MIB;
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);
    arena_now(fixture)->free_resident_bytes = 37 * MIB;
    assert_verdict(fixture, 0, SINCE_MORE);
}

/* A cache of 40 MiB that filled meanwhile is not what the promise was about. */
static void what_filled_meanwhile_breaks_no_promise(void **state)
{
    struct fixture *fixture = *state;

    builder_set_rss(&fixture->now.process->mappings[0], 430 * MIB);
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);
}

static void layers_are_told_when_both_are_known(void **state)
{
    struct fixture *fixture = *state;

    compare(fixture);
    for (size_t i = 0; i < fixture->since.layer_count; i++) {
        const struct since_layer *layer = &fixture->since.layers[i];
        assert_int_not_equal(layer->id, LAYER_CHARGED); /* no cgroup */
        if (layer->id == LAYER_RESIDENT) {
            assert_int_equal(layer->before_bytes, 400 * MIB);
            assert_int_equal(layer->now_bytes, 290 * MIB);
            return;
        }
    }
    fail_msg("no resident layer");
}

static void a_change_that_was_not_made_is_no_broken_promise(void **state)
{
    struct fixture *fixture = *state;

    fixture->now.process->glibc.parameters.arena_max = 0;
    assert_verdict(fixture, 0, SINCE_NOT_MADE);
    assert_string_equal(fixture->since.promises[0].force_text, "no limit of arenas");
    fixture->now.process->glibc.parameters.arena_max = 3;
    assert_verdict(fixture, 0, SINCE_NOT_MADE);
}

/* Trimming is about the memory of that process: the next one never had it. */
static void a_restart_ends_what_was_about_the_process(void **state)
{
    struct fixture *fixture = *state;

    promise(&fixture->before, "glibc-retained", 60 * MIB, 60 * MIB);
    promise(&fixture->before, "strata-retained", 0, 100 * MIB);
    promise(&fixture->before, "php-collectable", 100 * MIB, 120 * MIB);
    assert_verdict(fixture, 1, SINCE_ENDED);
    assert_verdict(fixture, 2, SINCE_ENDED);
    assert_verdict(fixture, 3, SINCE_ENDED);

    fixture->now.process->pid = 812;
    fixture->now.process->start_time_ticks = 0;
    assert_verdict(fixture, 1, SINCE_MORE);
    assert_false(fixture->since.restarted);
    /* Still there, and nothing fell: nobody trimmed. */
    arena_now(fixture)->free_resident_bytes = 158 * MIB;
    promise(&fixture->now, "glibc-retained", 60 * MIB, 60 * MIB);
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    assert_true(fixture->since.promises[1].found_now);
    /* Another boot can have the same pid and start. */
    fixture->before.facts.host.boot_unix_seconds = 1000;
    fixture->now.facts.host.boot_unix_seconds = 900000;
    assert_verdict(fixture, 1, SINCE_ENDED);
}

static void changes_for_the_same_bytes_are_judged_as_one(void **state)
{
    struct fixture *fixture = *state;

    promise(&fixture->before, "glibc-mmap-threshold", 0, 30 * MIB);
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);
    assert_false(fixture->since.promises[0].together);
    assert_int_equal(fixture->since.promises[1].verdict, SINCE_NOT_MADE);

    fixture->now.process->glibc.parameters.dynamic_threshold_off = true;
    arena_now(fixture)->free_resident_bytes = 20 * MIB; /* 138 MiB less: both together */
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);
    assert_true(fixture->since.promises[0].together);
    assert_int_equal(fixture->since.promises[0].low_bytes, 98 * MIB);
    assert_int_equal(fixture->since.promises[0].high_bytes, 150 * MIB);
    assert_int_equal(fixture->since.promises[1].verdict, SINCE_AS_PROMISED);
    arena_now(fixture)->free_resident_bytes = 2 * MIB;
    assert_verdict(fixture, 0, SINCE_MORE);
}

static void moments_that_differ_get_no_verdict(void **state)
{
    struct fixture *fixture = *state;

    /* An hour then, five minutes now. */
    fixture->now.process->start_unix_seconds = 1000000 + 3 * HOUR - 300;
    assert_verdict(fixture, 0, SINCE_UNLIKE);
    assert_string_equal(fixture->since.unlike, "up 5 min now, 1 h 0 min then");
    fixture->now.process->start_unix_seconds = 1000000 + 3 * HOUR - 361;
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);

    /* 40 MiB in use then, 19 now. */
    arena_now(fixture)->in_use_bytes = 19 * MIB;
    assert_verdict(fixture, 0, SINCE_UNLIKE);
    assert_string_equal(
        fixture->since.unlike, "in use is 19.0 MiB now and was 40.0 MiB then");
    arena_now(fixture)->in_use_bytes = 20 * MIB;
    assert_verdict(fixture, 0, SINCE_AS_PROMISED);

    char *name = fixture->now.process->name;
    fixture->now.process->name = (char[]){"client"};
    assert_verdict(fixture, 0, SINCE_UNLIKE);
    assert_non_null(strstr(fixture->since.unlike, "it is client now and was "));
    fixture->now.process->name = name;

    fixture->doubt = "of another moment";
    assert_verdict(fixture, 0, SINCE_UNLIKE);
    assert_string_equal(fixture->since.unlike, fixture->doubt);
    fixture->doubt = NULL;
    fixture->now.process->glibc.state = FACT_ABSENT;
    assert_verdict(fixture, 0, SINCE_UNLIKE);
    assert_string_equal(fixture->since.unlike, "another malloc is in use now");
}

/* Both are servers that 64 clients used at one time, with a cache of 9 threads. */
static void make_servers(struct fixture *fixture)
{
    struct process_facts *processes[] = {fixture->before.process, fixture->now.process};

    for (size_t i = 0; i < 2; i++) {
        fixture->servers[i].state = FACT_OK;
        fixture->servers[i].values[MYSQL_FACT_THREAD_CACHE_SIZE] = fact_ok(9);
        fixture->servers[i].values[MYSQL_FACT_MAX_USED_CONNECTIONS] = fact_ok(64);
        processes[i]->mysql = &fixture->servers[i];
        processes[i]->mysql_count = 1;
    }
}

static void a_server_with_fewer_clients_is_another_moment(void **state)
{
    struct fixture *fixture = *state;

    make_servers(fixture);
    promise(&fixture->before, "mysql-thread-cache", 0, 30 * MIB)->predicted_cost_bytes =
        8 * MIB;
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    fixture->servers[1].values[MYSQL_FACT_THREAD_CACHE_SIZE] = fact_ok(128);
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
    assert_string_equal(
        fixture->since.promises[1].force_text, "thread_cache_size = 128, was 9");
    assert_int_equal(fixture->since.promises[1].low_bytes, 90 * MIB);
    fixture->servers[1].values[MYSQL_FACT_MAX_USED_CONNECTIONS] = fact_ok(31);
    assert_verdict(fixture, 1, SINCE_UNLIKE);
    assert_string_equal(fixture->since.unlike,
        "at most 31 connections at one time since its start, 64 then");
}

/* Both are pools of one master, with a worker; the setting of then is pm = static. */
static char pool_www[] = "www";
static char pool_shop[] = "shop";

static void make_pools(struct fixture *fixture)
{
    struct moment *moments[] = {&fixture->before, &fixture->now};

    for (size_t i = 0; i < 2; i++) {
        struct facts *facts = &moments[i]->facts;
        const uint64_t start = moments[i]->process->start_unix_seconds;
        struct process_facts *worker =
            builder_process(facts, moments[i]->process->pid + 1, "server");
        facts->target_kind = TARGET_POOL;
        facts->target_name = pool_www;
        facts->fpm_pools = fixture->pools[i];
        facts->fpm_pool_count = 1;
        fixture->pools[i][0] = (struct fpm_pool_facts){
            .name = pool_www, .config_state = FACT_OK, .manager = FPM_STATIC};
        moments[i]->process = &facts->processes[0];
        worker->parent_pid = moments[i]->process->pid;
        worker->start_time_ticks = start + 1;
        worker->start_unix_seconds = start + 1;
        worker->mappings_state = FACT_OK;
        worker->zend.state = FACT_OK;
        worker->zend.heaps = &fixture->heaps[i];
        worker->zend.heap_count = 1;
    }
    fixture->heaps[0].cached_resident_bytes = 50 * MIB;
    promise(&fixture->before, "php-idle-cache", 50 * MIB, 50 * MIB);
}

static void a_pool_shows_that_its_workers_end(void **state)
{
    struct fixture *fixture = *state;
    struct fpm_pool_facts *now = &fixture->pools[1][0];

    make_pools(fixture);
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    assert_string_equal(fixture->since.promises[1].force_text,
        "pm = static, pm.max_requests = 0 as before");
    now->manager = FPM_ONDEMAND;
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
    assert_string_equal(fixture->since.promises[1].force_text,
        "pm = ondemand, was static; idle workers end after 10 s");
    assert_string_equal(fixture->since.promises[1].measure,
        "resident in chunks that PHP keeps for later");
    assert_int_equal(since_fell_bytes(&fixture->since.promises[1]), 50 * MIB);
    fixture->heaps[1].cached_resident_bytes = 8 * MIB;
    assert_verdict(fixture, 1, SINCE_LESS);
    fixture->heaps[1].cached_resident_bytes = 0;

    now->manager = FPM_STATIC;
    now->max_requests = fact_ok(500);
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
    assert_string_equal(
        fixture->since.promises[1].force_text, "pm.max_requests = 500, was 0");
    fixture->pools[0][0].max_requests = fact_ok(400);
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    fixture->pools[0][0].manager = now->manager = FPM_ONDEMAND;
    fixture->pools[0][0].idle_timeout_seconds = fact_ok(60);
    now->idle_timeout_seconds = fact_ok(10);
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
    assert_string_equal(fixture->since.promises[1].force_text,
        "pm.process_idle_timeout = 10, was 60; idle workers end after 10 s");

    /* What the kernel cuts off a start is no worker of then; one that was seen then is. */
    const struct process_facts *then = &fixture->before.facts.processes[1];
    struct process_facts *worker = &fixture->now.facts.processes[1];
    worker->start_unix_seconds = 1000000 + HOUR - 2;
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
    const struct process_facts young = *worker;
    worker->pid = then->pid;
    worker->start_time_ticks = then->start_time_ticks;
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    *worker = young;

    /* The file alone was changed. */
    fixture->now.facts.processes[1].start_unix_seconds = 1000000 + HOUR - 3;
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    assert_non_null(
        strstr(fixture->since.promises[1].force_text, ", but workers of then still run"));

    /* Without the files nothing is known of it; another pool of the master tells nothing. */
    now->config_state = FACT_DENIED;
    compare(fixture);
    assert_int_equal(fixture->since.promises[1].force, SINCE_FORCE_UNKNOWN);
    now->config_state = FACT_OK;
    now->name = pool_shop;
    compare(fixture);
    assert_int_equal(fixture->since.promises[1].force, SINCE_FORCE_UNKNOWN);
}

/* The master has a second pool, whose workers end: the first does not, a unit of both does. */
static void another_pool_of_the_master_is_another_target(void **state)
{
    struct fixture *fixture = *state;

    make_pools(fixture);
    for (size_t i = 0; i < 2; i++) {
        fixture->pools[i][1] = fixture->pools[i][0];
        fixture->pools[i][1].name = pool_shop;
    }
    fixture->before.facts.fpm_pool_count = fixture->now.facts.fpm_pool_count = 2;
    fixture->pools[1][1].manager = FPM_ONDEMAND;
    assert_verdict(fixture, 1, SINCE_NOT_MADE);
    fixture->now.facts.target_name = (char[]){"php8.2-fpm.service"};
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
}

static void a_pool_with_fewer_workers_is_the_same_pool(void **state)
{
    struct fixture *fixture = *state;

    make_pools(fixture);
    fixture->pools[1][0].manager = FPM_ONDEMAND;
    fixture->now.facts.process_count = 1; /* the master alone, with half of the work */
    arena_now(fixture)->in_use_bytes = 20 * MIB;
    assert_verdict(fixture, 1, SINCE_AS_PROMISED);
    assert_null(fixture->since.unlike);
    arena_now(fixture)->in_use_bytes = 41 * MIB;
    assert_verdict(fixture, 1, SINCE_UNLIKE);
    assert_string_equal(
        fixture->since.unlike, "in use is 41.0 MiB a process now and was 20.0 MiB then");
    /* One of its processes is not the pool. */
    arena_now(fixture)->in_use_bytes = 20 * MIB;
    fixture->now.facts.target_kind = TARGET_PROCESS;
    assert_verdict(fixture, 1, SINCE_UNLIKE);
    assert_string_equal(fixture->since.unlike, "1 process now, 2 processes then");
}

static void what_is_not_known_is_not_compared(void **state)
{
    struct fixture *fixture = *state;

    /* Without the pages of malloc the resident set is all there is. */
    arena_now(fixture)->resident_state = FACT_DENIED;
    compare(fixture);
    assert_string_equal(fixture->since.promises[0].measure, "resident");
    make_servers(fixture);
    fixture->servers[0].values[MYSQL_FACT_MEMORY_USED] = fact_ok(100 * MIB);
    fixture->servers[1].values[MYSQL_FACT_MEMORY_USED] = fact_ok(60 * MIB);
    compare(fixture);
    assert_string_equal(fixture->since.promises[0].measure, "resident less tracked");
    assert_int_equal(since_fell_bytes(&fixture->since.promises[0]), 70 * MIB);
    fixture->now.process->glibc.parameters.state = FACT_DENIED;
    compare(fixture);
    assert_int_equal(fixture->since.promises[0].force, SINCE_FORCE_UNKNOWN);
    fixture->now.process->mappings_state = FACT_DENIED;
    compare(fixture);
    fixture->before.list.count = 0;
    compare(fixture);
    assert_int_equal(fixture->since.promise_count, 0);
}

static void what_fell_goes_as_far_as_it_can(void **state)
{
    const struct since_promise promise = {.before_bytes = INT64_MAX, .now_bytes = -2};

    (void)state;
    assert_true(since_fell_bytes(&promise) == INT64_MAX);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_promise_is_kept_within_its_range),
        TEST(what_filled_meanwhile_breaks_no_promise),
        TEST(layers_are_told_when_both_are_known),
        TEST(a_change_that_was_not_made_is_no_broken_promise),
        TEST(a_restart_ends_what_was_about_the_process),
        TEST(changes_for_the_same_bytes_are_judged_as_one),
        TEST(moments_that_differ_get_no_verdict),
        TEST(a_server_with_fewer_clients_is_another_moment),
        TEST(a_pool_shows_that_its_workers_end),
        TEST(another_pool_of_the_master_is_another_target),
        TEST(a_pool_with_fewer_workers_is_the_same_pool),
        TEST(what_is_not_known_is_not_compared),
        TEST(what_fell_goes_as_far_as_it_can),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
