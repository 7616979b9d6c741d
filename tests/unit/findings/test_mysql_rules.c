/* test_mysql_rules.c - tracked against in use, and the rules on databases at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "judged.h"
#include "model/mysql_layers.h"

struct fixture {
    struct judged judged;
    struct process_facts *process;
    struct mysql_facts mysql;
    struct mysql_event events[4];
};

static void set(struct fixture *fixture, enum mysql_fact id, uint64_t value)
{
    fixture->mysql.values[id] = fact_ok(value);
}

/* MariaDB: 512 MiB resident, 300 MiB in use by malloc, pool of 128 MiB beside it. */
static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));
    struct glibc_arena *arena;

    assert_non_null(fixture);
    builder_init(&fixture->judged.facts);
    fixture->process = builder_process(&fixture->judged.facts, 900, "mariadbd");
    builder_set_rss(builder_mapping(&fixture->judged.facts, fixture->process,
                        0x7f0000000000, 600 * MIB, "rw-p", ""),
        512 * MIB);
    arena = builder_arena(&fixture->judged.facts, fixture->process, true, 310 * MIB);
    arena->in_use_bytes = 300 * MIB;
    arena->resident_bytes = 310 * MIB;
    arena->resident_state = FACT_OK;
    fixture->mysql = (struct mysql_facts){.state = FACT_OK,
        .family = MYSQL_MARIADB,
        .version = (char *)"10.11.6-MariaDB",
        .thread_handling = (char *)"one-thread-per-connection",
        .memory_why = (char *)"performance_schema is OFF"};
    set(fixture, MYSQL_FACT_PERFORMANCE_SCHEMA, 0);
    set(fixture, MYSQL_FACT_POOL_BYTES, 128 * MIB);
    set(fixture, MYSQL_FACT_MEMORY_USED, 378 * MIB);
    fixture->process->mysql = &fixture->mysql;
    fixture->process->mysql_count = 1;
    *state = fixture;
    return 0;
}

static void turn_schema_on(struct fixture *fixture)
{
    set(fixture, MYSQL_FACT_PERFORMANCE_SCHEMA, 1);
    set(fixture, MYSQL_FACT_INSTRUMENTS, 268);
    set(fixture, MYSQL_FACT_INSTRUMENTS_ON, 268);
    set(fixture, MYSQL_FACT_BLOCKS, 65536);
    fixture->mysql.memory_state = FACT_OK;
    fixture->mysql.memory_why = NULL;
    fixture->mysql.since = MYSQL_SINCE_START;
    fixture->events[0] = (struct mysql_event){
        .name = (char *)"memory/innodb/buf_buf_pool", .bytes = 128 << 20};
    fixture->events[1] = (struct mysql_event){
        .name = (char *)"memory/performance_schema/hosts", .bytes = 40 << 20};
    fixture->events[2] =
        (struct mysql_event){.name = (char *)"memory/innodb/trx0trx", .bytes = 5 << 20};
    fixture->events[3] =
        (struct mysql_event){.name = (char *)"memory/sql/THD", .bytes = 20 << 20};
    fixture->mysql.events = fixture->events;
    fixture->mysql.event_count = 4;
    set(fixture, MYSQL_FACT_INSTRUMENTED, 193 * MIB);
    set(fixture, MYSQL_FACT_SCHEMA_OWN, 40 * MIB);
}

static struct mysql_view view_of(struct fixture *fixture)
{
    (void)judged_finding(&fixture->judged, "mysql-coverage"); /* builds the snapshot */
    return mysql_view_of(&fixture->judged.snapshot.members[0]);
}

static const struct layer *tracked_of(struct fixture *fixture)
{
    (void)judged_finding(&fixture->judged, "mysql-coverage");
    return &fixture->judged.snapshot.layers[LAYER_TRACKED];
}

static void memory_used_is_divided(void **state)
{
    struct fixture *fixture = *state;
    const struct mysql_view view = view_of(fixture);

    assert_int_equal(view.source, MYSQL_SOURCE_COUNTER);
    assert_int_equal(view.tracked_bytes, 378 * MIB);
    assert_int_equal(view.outside_bytes, 128 * MIB);
    assert_int_equal(view.inside_bytes, 250 * MIB);
    assert_int_equal(view.untracked_bytes, 50 * MIB);
    assert_int_equal(view.coverage_percent, 83);
    const struct layer *tracked = tracked_of(fixture);
    assert_int_equal(tracked->bytes, 378 * MIB);
    assert_int_equal(layer_part_bytes(tracked, "mysql-buffer-pool"), 128 * MIB);
    assert_int_equal(layer_part_bytes(tracked, "mysql-other"), 250 * MIB);
}

static void a_mapped_log_has_no_buffers(void **state)
{
    struct fixture *fixture = *state;

    set(fixture, MYSQL_FACT_LOG_BUFFER_BYTES, 16 * MIB);
    assert_int_equal(view_of(fixture).outside_bytes, 160 * MIB);
    set(fixture, MYSQL_FACT_LOG_MAPPED, 1);
    assert_int_equal(view_of(fixture).outside_bytes, 128 * MIB);
}

static void schema_adds_only_what_memory_used_has_not(void **state)
{
    struct fixture *fixture = *state;

    turn_schema_on(fixture);
    const struct mysql_view view = view_of(fixture);
    assert_int_equal(view.source, MYSQL_SOURCE_BOTH);
    assert_int_equal(view.tracked_bytes, (378 + 40 + 5) * MIB);
    assert_int_equal(view.header_bytes, MIB);
    assert_int_equal(view.untracked_bytes, 300 * MIB - 295 * MIB - MIB);
}

static void mysql_is_the_sum_of_its_instruments(void **state)
{
    struct fixture *fixture = *state;

    turn_schema_on(fixture);
    fixture->mysql.family = MYSQL_MYSQL;
    fixture->mysql.values[MYSQL_FACT_MEMORY_USED] = (struct fact){.state = FACT_ABSENT};
    const struct layer *tracked = tracked_of(fixture);
    assert_int_equal(tracked->bytes, 193 * MIB);
    assert_int_equal(layer_part_bytes(tracked, "mysql-innodb"), 5 * MIB);
    assert_int_equal(layer_part_bytes(tracked, "mysql-other"), 20 * MIB);
    /* What rows below zero take off stays in the total, as in sys.memory_global_total. */
    set(fixture, MYSQL_FACT_INSTRUMENTED_NEGATIVE, 3 * MIB);
    tracked = tracked_of(fixture);
    assert_int_equal(tracked->bytes, 190 * MIB);
    assert_int_equal(tracked->plus_minus_bytes, 3 * MIB);
    assert_int_equal(tracked->state, FACT_STALE);
}

static void a_pool_inside_malloc_is_not_outside(void **state)
{
    struct fixture *fixture = *state;

    builder_span(&fixture->judged.facts, fixture->process, SPAN_GLIBC_MMAPPED,
        0x7f0000000000, 128 * MIB + 4 * KIB, MIB);
    assert_int_equal(view_of(fixture).outside_bytes, 0);
}

static void a_server_that_was_not_asked_says_why(void **state)
{
    struct fixture *fixture = *state;

    fixture->mysql = (struct mysql_facts){
        .state = FACT_DENIED, .family = MYSQL_MARIADB, .why = (char *)"Access denied"};
    const struct layer *tracked = tracked_of(fixture);
    assert_int_equal(tracked->state, FACT_DENIED);
    assert_non_null(strstr(tracked->source, "Access denied"));
    assert_silent(&fixture->judged, "mysql-coverage");
}

static void set_churn(struct fixture *fixture, uint64_t connections, uint64_t created,
    uint64_t most, uint64_t cache)
{
    set(fixture, MYSQL_FACT_CONNECTIONS, connections);
    set(fixture, MYSQL_FACT_THREADS_CREATED, created);
    set(fixture, MYSQL_FACT_MAX_USED_CONNECTIONS, most);
    set(fixture, MYSQL_FACT_THREAD_CACHE_SIZE, cache);
}

static void threads_made_for_each_connection(void **state)
{
    struct fixture *fixture = *state;

    assert_silent(&fixture->judged, "mysql-thread-cache");
    set_churn(fixture, 50, 21, 10, 9);
    assert_speaks(&fixture->judged, "mysql-thread-cache", SEVERITY_INFO);
    const struct finding *finding =
        judged_finding(&fixture->judged, "mysql-thread-cache");
    assert_non_null(strstr(finding->fix, "thread_cache_size = 32"));
    set_churn(fixture, 49, 21, 10, 9);
    assert_silent(&fixture->judged, "mysql-thread-cache");
    set_churn(fixture, 50, 20, 10, 9); /* warming up: no more than twice at one time */
    assert_silent(&fixture->judged, "mysql-thread-cache");
    set_churn(fixture, 1000, 99, 10, 9);
    assert_silent(&fixture->judged, "mysql-thread-cache");
    set_churn(fixture, 1000, 999, 10, 32); /* large enough: something else is wrong */
    assert_silent(&fixture->judged, "mysql-thread-cache");
    /* The published case: 454,107 connections and 10 threads. */
    set_churn(fixture, 454107, 10, 10, 32);
    assert_silent(&fixture->judged, "mysql-thread-cache");
    set_churn(fixture, 1000, 999, 100, 9);
    finding = judged_finding(&fixture->judged, "mysql-thread-cache");
    assert_non_null(strstr(finding->fix, "thread_cache_size = 128"));
    fixture->mysql.thread_handling = (char *)"pool-of-threads";
    assert_silent(&fixture->judged, "mysql-thread-cache");
}

static void each_fix_has_its_own_lines(void **state)
{
    struct fixture *fixture = *state;
    const struct finding *finding;

    for (int i = 0; i < 15; i++) {
        struct glibc_arena *arena =
            builder_arena(&fixture->judged.facts, fixture->process, false, 20 * MIB);
        arena->resident_bytes = 20 * MIB;
        arena->free_resident_bytes = 15 * MIB;
        arena->in_use_bytes = 5 * MIB;
        arena->resident_state = FACT_OK;
    }
    finding = judged_finding(&fixture->judged, "glibc-arenas");
    assert_non_null(finding);
    assert_non_null(strstr(finding->fix, "MALLOC_ARENA_MAX"));
    set_churn(fixture, 1000, 999, 10, 0);
    finding = judged_finding(&fixture->judged, "glibc-arenas");
    assert_null(strstr(finding->fix, "thread_cache_size"));
    finding = judged_finding(&fixture->judged, "mysql-thread-cache");
    assert_null(strstr(finding->fix, "MALLOC_ARENA_MAX"));
    assert_non_null(strstr(finding->fix, "SET GLOBAL thread_cache_size = 32;"));
    assert_int_equal(finding->severity, SEVERITY_WARN);
    assert_true(finding->predicts);
    assert_int_equal(finding->predicted_low_bytes, 0);
    assert_in_range(finding->predicted_high_bytes, 33 * MIB, 37 * MIB); /* 15 % */
    assert_in_range(finding->predicted_cost_bytes, 22 * MIB, 25 * MIB); /* 10 % */
}

static void coverage_names_what_is_missing(void **state)
{
    struct fixture *fixture = *state;

    assert_silent(&fixture->judged, "mysql-coverage");
    set(fixture, MYSQL_FACT_MEMORY_USED, 128 * MIB + 149 * MIB);
    assert_speaks(&fixture->judged, "mysql-coverage", SEVERITY_INFO); /* 49 % */
    set(fixture, MYSQL_FACT_MEMORY_USED, 128 * MIB + 150 * MIB);
    assert_silent(&fixture->judged, "mysql-coverage");
    turn_schema_on(fixture);
    assert_silent(&fixture->judged, "mysql-coverage");
    set(fixture, MYSQL_FACT_INSTRUMENTS_ON, 200); /* 74 % */
    assert_speaks(&fixture->judged, "mysql-coverage", SEVERITY_INFO);
    const struct finding *finding = judged_finding(&fixture->judged, "mysql-coverage");
    assert_non_null(strstr(finding->summary, "for itself only"));
    set(fixture, MYSQL_FACT_INSTRUMENTS_ON, 201);
    assert_silent(&fixture->judged, "mysql-coverage");
    fixture->mysql.since = MYSQL_SINCE_LATER;
    set(fixture, MYSQL_FACT_NEGATIVE_ROWS, 1);
    finding = judged_finding(&fixture->judged, "mysql-coverage");
    assert_non_null(strstr(finding->summary, "below zero"));
    fixture->mysql.memory_state = FACT_DENIED;
    finding = judged_finding(&fixture->judged, "mysql-coverage");
    assert_non_null(strstr(finding->fix, "GRANT SELECT ON performance_schema.*"));
}

/* Performance Schema's own memory is counted by its events, like all else. */
static void set_own_memory(struct fixture *fixture, uint64_t bytes)
{
    fixture->events[1].bytes = (int64_t)bytes;
    set(fixture, MYSQL_FACT_SCHEMA_OWN, bytes);
}

static void own_memory_of_performance_schema(void **state)
{
    struct fixture *fixture = *state;

    turn_schema_on(fixture);
    set_own_memory(fixture, 102 * MIB); /* 19.9 % */
    assert_silent(&fixture->judged, "mysql-schema-memory");
    set_own_memory(fixture, 103 * MIB);
    assert_speaks(&fixture->judged, "mysql-schema-memory", SEVERITY_INFO);
    const struct finding *finding =
        judged_finding(&fixture->judged, "mysql-schema-memory");
    assert_non_null(strstr(finding->fix, "performance_schema = OFF"));
    set_own_memory(fixture, 256 * MIB);
    set(fixture, MYSQL_FACT_SQL_TEXT_BYTES, 16384);
    assert_speaks(&fixture->judged, "mysql-schema-memory", SEVERITY_WARN);
    finding = judged_finding(&fixture->judged, "mysql-schema-memory");
    assert_int_equal(finding->predicted_high_bytes, 240 * MIB);
    assert_non_null(
        strstr(finding->fix, "performance_schema_max_sql_text_length = 1024"));
}

static void formulas_are_set_beside_what_was_measured(void **state)
{
    struct fixture *fixture = *state;

    fixture->judged.facts.host.values[HOST_FACT_MEM_TOTAL] = fact_ok(4 * GIB);
    set(fixture, MYSQL_FACT_SORT_BUFFER_BYTES, 1 * GIB);
    set(fixture, MYSQL_FACT_MAX_CONNECTIONS, 500);
    set(fixture, MYSQL_FACT_MAX_USED_CONNECTIONS, 12);
    assert_speaks(&fixture->judged, "mysql-connection-buffers", SEVERITY_INFO);
    const struct finding *finding =
        judged_finding(&fixture->judged, "mysql-connection-buffers");
    assert_int_equal(evidence_of(finding, "formula"), 500 * GIB + 128 * MIB);
    set(fixture, MYSQL_FACT_SORT_BUFFER_BYTES, 1 * MIB); /* 628 MiB: fits */
    assert_silent(&fixture->judged, "mysql-connection-buffers");
    set(fixture, MYSQL_FACT_MAX_CONNECTIONS, 383); /* 511 MiB, less than resident */
    assert_speaks(&fixture->judged, "mysql-connection-buffers", SEVERITY_INFO);
    finding = judged_finding(&fixture->judged, "mysql-connection-buffers");
    assert_non_null(strstr(finding->summary, "no bound"));
}

static void configured_memory_is_no_allocators_fault(void **state)
{
    struct fixture *fixture = *state;

    set(fixture, MYSQL_FACT_POOL_PAGES_TOTAL, 100);
    set(fixture, MYSQL_FACT_POOL_PAGES_FREE, 0); /* 128 + 250 of 512: 73 % */
    assert_speaks(&fixture->judged, "mysql-configuration", SEVERITY_INFO);
    set(fixture, MYSQL_FACT_POOL_PAGES_FREE, 60); /* 51 + 250: 58 % */
    assert_silent(&fixture->judged, "mysql-configuration");
    set(fixture, MYSQL_FACT_POOL_PAGES_FREE, 0);
    fixture->process->glibc.arenas[0].top_resident_bytes = 77 * MIB; /* 15 % free */
    assert_silent(&fixture->judged, "mysql-configuration");
}

static void an_emptied_pool(void **state)
{
    struct fixture *fixture = *state;

    set(fixture, MYSQL_FACT_POOL_PAGES_TOTAL, 100);
    set(fixture, MYSQL_FACT_POOL_PAGES_FREE, 25);
    fixture->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(64 * MIB);
    assert_speaks(&fixture->judged, "mysql-pool-emptied", SEVERITY_WARN);
    set(fixture, MYSQL_FACT_POOL_PAGES_FREE, 24);
    assert_silent(&fixture->judged, "mysql-pool-emptied");
    set(fixture, MYSQL_FACT_POOL_PAGES_FREE, 25);
    fixture->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(64 * MIB - 1);
    assert_silent(&fixture->judged, "mysql-pool-emptied");
}

#define CASE(NAME) cmocka_unit_test_setup_teardown(NAME, setup, judged_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(memory_used_is_divided),
        CASE(a_mapped_log_has_no_buffers),
        CASE(schema_adds_only_what_memory_used_has_not),
        CASE(mysql_is_the_sum_of_its_instruments),
        CASE(a_pool_inside_malloc_is_not_outside),
        CASE(a_server_that_was_not_asked_says_why),
        CASE(threads_made_for_each_connection),
        CASE(each_fix_has_its_own_lines),
        CASE(coverage_names_what_is_missing),
        CASE(own_memory_of_performance_schema),
        CASE(formulas_are_set_beside_what_was_measured),
        CASE(configured_memory_is_no_allocators_fault),
        CASE(an_emptied_pool),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
