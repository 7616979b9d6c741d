/* test_snapshot.c - the layers of processes and groups, known and missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "model/snapshot.h"

static int setup(void **state)
{
    struct facts *facts = calloc(1, sizeof(*facts));

    builder_init(facts);
    *state = facts;
    return 0;
}

static int teardown(void **state)
{
    builder_release(*state);
    free(*state);
    return 0;
}

static struct snapshot built(const struct facts *facts)
{
    struct snapshot snapshot;

    assert_int_equal(snapshot_build(facts, &snapshot), 0);
    return snapshot;
}

#define assert_layer(snapshot, id, size)                                                 \
    do {                                                                                 \
        assert_int_equal((snapshot).layers[id].state, FACT_OK);                          \
        assert_int_equal((snapshot).layers[id].bytes, (size));                           \
    } while (0)

#define assert_missing(snapshot, id, why, text)                                          \
    do {                                                                                 \
        assert_int_equal((snapshot).layers[id].state, (why));                            \
        assert_non_null((snapshot).layers[id].source);                                   \
        assert_non_null(strstr((snapshot).layers[id].source, (text)));                   \
    } while (0)

static void glibc_gives_four_layers(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 7, "server");
    struct glibc_arena *arena = builder_arena(facts, process, true, 10 * MIB);
    struct snapshot snapshot;

    arena->in_use_bytes = 6 * MIB;
    arena->cached_bytes = 1 * MIB;
    arena->resident_bytes = 9 * MIB;
    arena->free_resident_bytes = 2 * MIB;
    arena->top_resident_bytes = 1 * MIB;
    arena->top_trimmable_bytes = 512 * KIB;
    arena->trim_gain_bytes = 2 * MIB + 512 * KIB;
    arena = builder_arena(facts, process, false, 20 * MIB);
    arena->in_use_bytes = 5 * MIB;
    arena->resident_bytes = 20 * MIB;
    arena->free_resident_bytes = 4 * MIB;
    arena->trim_gain_bytes = 3 * MIB;
    arena->top_resident_bytes = 7 * MIB;
    process->glibc.parameters.mmapped_bytes = 100 * MIB;
    process->glibc.mmapped_resident_bytes = fact_ok(30 * MIB);
    snapshot = built(facts);

    assert_layer(snapshot, LAYER_HELD, 130 * MIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_HELD], "glibc-arenas"), 20 * MIB);
    assert_layer(snapshot, LAYER_IN_USE, 111 * MIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_IN_USE], "glibc-cached"), 1 * MIB);
    assert_layer(snapshot, LAYER_FREE_RESIDENT, 14 * MIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_FREE_RESIDENT], "glibc-free"), 5 * MIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_FREE_RESIDENT], "glibc-free-edges"),
        1 * MIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_FREE_RESIDENT], "glibc-arena-tops"),
        7 * MIB);
    assert_layer(snapshot, LAYER_NEVER_TOUCHED, 71 * MIB);
    assert_missing(snapshot, LAYER_TRACKED, FACT_ABSENT, "application");
    snapshot_release(&snapshot);
}

static void an_arena_that_was_not_walked_widens_the_layer(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 7, "server");
    struct snapshot snapshot;

    builder_arena(facts, process, true, 10 * MIB);
    builder_arena(facts, process, false, 0)->state = FACT_MALFORMED;
    builder_span(facts, process, SPAN_GLIBC_ARENA_HEAP, 64 * MIB, 40 * MIB, 0)->index = 1;
    snapshot = built(facts);
    assert_int_equal(snapshot.layers[LAYER_HELD].state, FACT_STALE);
    assert_int_equal(snapshot.layers[LAYER_HELD].bytes, 10 * MIB);
    assert_int_equal(snapshot.layers[LAYER_HELD].plus_minus_bytes, 40 * MIB);
    assert_non_null(strstr(snapshot.layers[LAYER_HELD].source, "1 of 2 arenas"));
    snapshot_release(&snapshot);
}

static void missing_inputs_are_reasons_never_zero(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 7, "server");
    struct glibc_arena *arena = builder_arena(facts, process, true, 10 * MIB);
    struct snapshot snapshot;

    arena->resident_state = FACT_DENIED;
    process->mappings_state = FACT_DENIED;
    process->mappings_have_values = false;
    process->values[PROCESS_FACT_VM_RSS] = fact_ok(50 * MIB);
    process->values[PROCESS_FACT_RSS_FILE] = fact_ok(20 * MIB);
    process->values[PROCESS_FACT_RSS_SHMEM] = fact_ok(5 * MIB);
    facts->gaps = &(struct gap){
        .fact = (char[]){"smaps"},
        .pid = 7,
        .state = FACT_DENIED,
        .why = (char[]){"permission denied; sudo would give it"},
    };
    facts->gap_count = 1;
    snapshot = built(facts);

    assert_layer(snapshot, LAYER_HELD, 10 * MIB);
    assert_missing(snapshot, LAYER_FREE_RESIDENT, FACT_DENIED, "pagemap");
    assert_missing(snapshot, LAYER_NEVER_TOUCHED, FACT_DENIED, "pagemap");
    assert_missing(snapshot, LAYER_RESIDUAL, FACT_DENIED, "sudo would give it");
    assert_missing(snapshot, LAYER_PSS, FACT_ABSENT, "smaps_rollup");
    assert_missing(snapshot, LAYER_EXCLUSIVE, FACT_ABSENT, "smaps_rollup");
    assert_missing(snapshot, LAYER_CHARGED, FACT_ABSENT, "cgroup");
    assert_layer(snapshot, LAYER_RESIDENT, 50 * MIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_RESIDENT], "anon"), 25 * MIB);
    snapshot_release(&snapshot);
}

static void the_allocator_in_place_of_glibc_is_named(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 7, "redis-server");
    struct snapshot snapshot;

    builder_allocator(facts, process, ALLOCATOR_JEMALLOC);
    snapshot = built(facts);
    assert_missing(snapshot, LAYER_HELD, FACT_ABSENT, "jemalloc");
    assert_missing(snapshot, LAYER_IN_USE, FACT_ABSENT, "jemalloc");
    snapshot_release(&snapshot);
}

static void kernel_threads_and_zombies_hold_nothing(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 2, "kthreadd");
    struct snapshot snapshot;

    process->kernel_thread = true;
    process->mappings_have_values = false;
    snapshot = built(facts);
    assert_missing(snapshot, LAYER_RESIDENT, FACT_ABSENT, "kernel thread");
    snapshot_release(&snapshot);

    process->kernel_thread = false;
    process->run_state = 'Z';
    snapshot = built(facts);
    assert_missing(snapshot, LAYER_RESIDENT, FACT_ABSENT, "zombie");
    snapshot_release(&snapshot);
}

static void resident_differs_from_status_by_its_uncertainty(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 7, "server");
    struct snapshot snapshot;

    builder_set_rss(
        builder_mapping(facts, process, 64 * MIB, 200 * KIB, "rw-p", ""), 200 * KIB);
    process->values[PROCESS_FACT_VM_RSS] = fact_ok(230 * KIB);
    snapshot = built(facts);
    assert_layer(snapshot, LAYER_RESIDENT, 200 * KIB);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].plus_minus_bytes, 30 * KIB);
    assert_layer(snapshot, LAYER_RESIDUAL, 200 * KIB);
    assert_layer(snapshot, LAYER_EXCLUSIVE, 200 * KIB);
    assert_layer(snapshot, LAYER_PSS, 200 * KIB);
    snapshot_release(&snapshot);
}

static void the_residual_has_a_sign(void **state)
{
    struct facts *facts = *state;
    struct process_facts *process = builder_process(facts, 7, "server");
    struct glibc_arena *arena = builder_arena(facts, process, false, 8 * MIB);
    struct snapshot snapshot;

    builder_set_rss(
        builder_mapping(facts, process, 64 * MIB, 8 * MIB, "rw-p", ""), 2 * MIB);
    builder_span(facts, process, SPAN_GLIBC_ARENA_HEAP, 64 * MIB, 8 * MIB, 2 * MIB);
    arena->free_resident_bytes = arena->trim_gain_bytes = 5 * MIB;
    snapshot = built(facts);
    assert_int_equal(snapshot.layers[LAYER_RESIDUAL].bytes, -(int64_t)(3 * MIB));
    snapshot_release(&snapshot);
}

/* Report C15: two workers of one pool; 47 MB of opcache counted twice in Rss. */
static void add_worker(
    struct facts *facts, int32_t pid, uint64_t anon_kb, uint64_t shared_kb)
{
    struct process_facts *process = builder_process(facts, pid, "php-fpm8.2");
    struct mapping *mapping =
        builder_mapping(facts, process, 64 * MIB, 32 * MIB, "rw-p", "[anon:x]");

    builder_set_rss(mapping, anon_kb * KIB);
    mapping = builder_mapping(
        facts, process, 128 * MIB, 128 * MIB, "rw-s", "/dev/zero (deleted)");
    mapping->values[MAPPING_FACT_RSS] = fact_ok(shared_kb * KIB);
    mapping->values[MAPPING_FACT_PSS] = fact_ok(shared_kb * KIB / 2);
}

static void a_group_never_counts_a_page_twice(void **state)
{
    struct facts *facts = *state;
    struct snapshot snapshot;

    facts->target_kind = TARGET_POOL;
    add_worker(facts, 11, 8000, 46000);
    add_worker(facts, 12, 11000, 46000);
    snapshot = built(facts);
    assert_int_equal(snapshot.rss_sum_bytes, 111000 * KIB);
    assert_layer(snapshot, LAYER_RESIDENT, 65000 * KIB);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_RESIDENT], "shm-anonymous"), 46000 * KIB);
    assert_layer(snapshot, LAYER_PSS, 65000 * KIB);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].bound, BOUND_AT_LEAST);
    assert_missing(snapshot, LAYER_UNIQUE, FACT_ABSENT, "frames");
    snapshot_release(&snapshot);

    facts->unique_bytes = fact_ok(70000 * KIB);
    facts->exclusive_bytes = fact_ok(64000 * KIB);
    snapshot = built(facts);
    assert_layer(snapshot, LAYER_RESIDENT, 70000 * KIB);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].bound, BOUND_NONE);
    assert_int_equal(
        layer_part_bytes(&snapshot.layers[LAYER_RESIDENT], "shared-outside"), 5000 * KIB);
    assert_layer(snapshot, LAYER_EXCLUSIVE, 64000 * KIB);
    snapshot_release(&snapshot);
}

static void a_sum_of_rss_says_that_it_is_one(void **state)
{
    struct facts *facts = *state;
    struct snapshot snapshot;

    facts->target_kind = TARGET_POOL;
    for (int32_t pid = 11; pid < 13; pid++) {
        struct process_facts *process = builder_process(facts, pid, "php-fpm8.2");
        process->mappings_have_values = false;
        process->values[PROCESS_FACT_VM_RSS] = fact_ok((uint64_t)pid * MIB);
    }
    snapshot = built(facts);
    assert_layer(snapshot, LAYER_RESIDENT, 23 * MIB);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].plus_minus_bytes, 11 * MIB);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].bound, BOUND_AT_MOST);
    assert_non_null(strstr(snapshot.layers[LAYER_RESIDENT].source, "sum of Rss"));
    snapshot_release(&snapshot);

    for (size_t i = 0; i < facts->process_count; i++) {
        facts->processes[i].values[PROCESS_FACT_PSS] = fact_ok(MIB);
    }
    snapshot = built(facts);
    assert_layer(snapshot, LAYER_RESIDENT, 2 * MIB);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].bound, BOUND_AT_LEAST);
    snapshot_release(&snapshot);

    facts->process_count = 1;
    snapshot = built(facts);
    assert_int_equal(snapshot.layers[LAYER_RESIDENT].bound, BOUND_NONE);
    snapshot_release(&snapshot);
}

/* A sum over the members that could be read looked like the Pss of the pool. */
static void r_pss_of_some_members_is_not_that_of_the_group(void **state)
{
    struct facts *facts = *state;
    struct snapshot snapshot;

    facts->target_kind = TARGET_POOL;
    for (int32_t pid = 11; pid < 14; pid++) {
        struct process_facts *process = builder_process(facts, pid, "nginx");
        process->mappings_have_values = false;
        process->values[PROCESS_FACT_VM_RSS] = fact_ok(3 * MIB);
        if (pid > 11) {
            process->values[PROCESS_FACT_PSS] = fact_ok(MIB);
        }
    }
    snapshot = built(facts);
    assert_missing(snapshot, LAYER_PSS, FACT_ABSENT, "2 of 3 processes");
    assert_layer(snapshot, LAYER_RESIDENT, 9 * MIB);
    snapshot_release(&snapshot);
}

/* Three of four workers may be read: their sum is no figure of the pool. */
static void heaps_of_some_members_are_a_lower_bound(void **state)
{
    struct facts *facts = *state;
    struct snapshot snapshot;

    facts->target_kind = TARGET_POOL;
    builder_arena(facts, builder_process(facts, 11, "a"), true, 3 * MIB)->in_use_bytes =
        MIB;
    snapshot = built(facts);
    assert_int_equal(snapshot.layers[LAYER_HELD].bound, BOUND_NONE);
    snapshot_release(&snapshot);
    (void)builder_process(facts, 12, "b");
    snapshot = built(facts);
    assert_int_equal(snapshot.layers[LAYER_HELD].bytes, 3 * MIB);
    assert_int_equal(snapshot.layers[LAYER_HELD].bound, BOUND_AT_LEAST);
    assert_int_equal(snapshot.layers[LAYER_IN_USE].bound, BOUND_AT_LEAST);
    snapshot_release(&snapshot);
}

static void heaps_of_a_group_add_up(void **state)
{
    struct facts *facts = *state;
    struct snapshot snapshot;

    facts->target_kind = TARGET_UNIT;
    builder_arena(facts, builder_process(facts, 11, "a"), true, 3 * MIB)->in_use_bytes =
        MIB;
    builder_arena(facts, builder_process(facts, 12, "b"), true, 4 * MIB)->in_use_bytes =
        MIB;
    snapshot = built(facts);
    assert_layer(snapshot, LAYER_HELD, 7 * MIB);
    assert_layer(snapshot, LAYER_IN_USE, 2 * MIB);
    snapshot_release(&snapshot);
}

static void an_empty_target_is_not_zero(void **state)
{
    struct facts *facts = *state;
    struct snapshot snapshot = built(facts);

    for (int id = 0; id < LAYER_COUNT; id++) {
        assert_int_equal(snapshot.layers[id].state, FACT_ABSENT);
        assert_non_null(snapshot.layers[id].source);
    }
    snapshot_release(&snapshot);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(glibc_gives_four_layers),
        TEST(an_arena_that_was_not_walked_widens_the_layer),
        TEST(missing_inputs_are_reasons_never_zero),
        TEST(the_allocator_in_place_of_glibc_is_named),
        TEST(kernel_threads_and_zombies_hold_nothing),
        TEST(resident_differs_from_status_by_its_uncertainty),
        TEST(the_residual_has_a_sign),
        TEST(a_group_never_counts_a_page_twice),
        TEST(a_sum_of_rss_says_that_it_is_one),
        TEST(r_pss_of_some_members_is_not_that_of_the_group),
        TEST(heaps_of_some_members_are_a_lower_bound),
        TEST(heaps_of_a_group_add_up),
        TEST(an_empty_target_is_not_zero),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
