/* test_pool_plan.c - which members are workers, what they add, what is there once. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "plan/plan_config.h"
#include "plan/pool_plan.h"

enum { MASTER = 100, FIRST = 101, WORKERS = 4 };

struct fixture {
    struct facts facts;
    struct snapshot snapshot;
    struct region region;
    struct plan_wishes wishes;
    struct plan_input input;
};

/* private and shared resident memory, in two mappings */
static void add(struct facts *facts, int32_t pid, int32_t parent, uint64_t private_bytes,
    uint64_t beyond)
{
    struct process_facts *process = builder_process(facts, pid, "php-fpm8.2");

    process->parent_pid = parent;
    struct mapping *own =
        builder_mapping(facts, process, 0x10000000, 256 * MIB, "rw-p", "");
    builder_set_rss(own, private_bytes);
    struct mapping *shared =
        builder_mapping(facts, process, 0x7f0000000000, 64 * MIB, "rw-s", "/dev/zero");
    shared->values[MAPPING_FACT_RSS] = fact_ok(20 * MIB);
    shared->values[MAPPING_FACT_PSS] = fact_ok(4 * MIB);
    shared->values[MAPPING_FACT_SHARED_DIRTY] = fact_ok(20 * MIB);
    process->values[PROCESS_FACT_PRIVATE_CLEAN] = fact_ok(0);
    process->values[PROCESS_FACT_PRIVATE_DIRTY] = fact_ok(private_bytes);
    process->values[PROCESS_FACT_PSS] = fact_ok(private_bytes + 4 * MIB);
    process->values[PROCESS_FACT_PSS_ANON] = fact_ok(private_bytes);
    process->values[PROCESS_FACT_PSS_SHMEM] = fact_ok(4 * MIB);
    process->values[PROCESS_FACT_VM_RSS] = fact_ok(private_bytes + 20 * MIB);
    process->values[PROCESS_FACT_VM_HWM] = fact_ok(private_bytes + 20 * MIB + beyond);
    process->values[PROCESS_FACT_VM_PTE] = fact_ok(112 * KIB);
    process->values[PROCESS_FACT_THREADS] = fact_ok(1);
}

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    builder_init(&fixture->facts);
    fixture->facts.target_kind = TARGET_POOL;
    fixture->facts.target_name = region_copy_text(&fixture->facts.region, "www");
    add(&fixture->facts, MASTER, 1, 6 * MIB, 0);
    for (int32_t i = 0; i < WORKERS; i++) {
        add(&fixture->facts, FIRST + i, MASTER, 10 * MIB, (uint64_t)i * MIB);
    }
    fixture->facts.unique_bytes = fact_ok(66 * MIB); /* 6 + 4 x 10 + 20 */
    fixture->facts.host.values[HOST_FACT_MEM_TOTAL] = fact_ok(1000 * MIB);
    fixture->facts.host.values[HOST_FACT_MEM_AVAILABLE] = fact_ok(800 * MIB);
    fixture->wishes.reserve_percent = 10;
    region_init(&fixture->region, 1 << 20);
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    region_release(&fixture->region);
    builder_release(&fixture->facts);
    free(fixture);
    return 0;
}

static void make(struct fixture *fixture)
{
    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    assert_int_equal(pool_plan_input(&fixture->region, &fixture->snapshot,
                         &fixture->wishes, &fixture->input),
        0);
    snapshot_release(&fixture->snapshot);
}

static uint64_t fixed(const struct fixture *fixture, const char *id)
{
    for (size_t i = 0; i < fixture->input.fixed_count; i++) {
        if (strcmp(fixture->input.fixed[i].id, id) == 0) {
            return fixture->input.fixed[i].bytes;
        }
    }
    return 0;
}

static void workers_are_leaves_and_the_rest_is_there_once(void **state)
{
    struct fixture *fixture = *state;

    make(fixture);
    assert_int_equal(fixture->input.private_count, WORKERS);
    assert_int_equal(fixture->input.private_bytes[0], 10 * MIB);
    assert_int_equal(fixture->input.private_bytes[3], 13 * MIB); /* HWM - RSS = 3 MiB */
    assert_int_equal(fixture->input.shared_bytes, 20 * MIB);
    assert_int_equal(fixture->input.kernel_bytes, 128 * KIB);
    assert_int_equal(fixed(fixture, "master"), 6 * MIB);
    assert_int_equal(fixed(fixture, "shared"), 20 * MIB);
    assert_int_equal(fixed(fixture, "kernel"), 128 * KIB);
    /* 200 used - (46 anonymous + 20 shared) - 5 x 128 KiB */
    assert_int_equal(fixed(fixture, "others"), 134 * MIB - 5 * 128 * KIB);
    assert_int_equal(fixed(fixture, "reserve"), 100 * MIB);
    assert_int_equal(fixture->input.limit_bytes, 1000 * MIB);
    assert_false(fixture->input.alone);
}

static void wishes_come_first(void **state)
{
    struct fixture *fixture = *state;

    fixture->wishes.limit_bytes = 500 * MIB;
    fixture->wishes.memory_limit_bytes = 77 * MIB;
    make(fixture);
    assert_int_equal(fixture->input.limit_bytes, 500 * MIB);
    assert_int_equal(fixed(fixture, "others"), 0);
    assert_int_equal(fixed(fixture, "reserve"), 50 * MIB);
    assert_int_equal(fixture->input.heap.limit_bytes.value, 77 * MIB);
    fixture->wishes.others_given = true;
    fixture->wishes.others_bytes = 9 * MIB;
    make(fixture);
    assert_int_equal(fixed(fixture, "others"), 9 * MIB);
}

static void heaps_tell_limit_and_peak(void **state)
{
    struct fixture *fixture = *state;
    struct zend_heap_facts heaps[2] = {
        {.state = FACT_OK,
            .resident_state = FACT_OK,
            .resident_bytes = 4 * MIB,
            .real_bytes = 6 * MIB,
            .peak_real_bytes = 48 * MIB,
            .peak_used_bytes = 30 * MIB,
            .half_chunks = 5,
            .limit_bytes = {.value = 64 * MIB, .state = FACT_OK}},
        {.state = FACT_OK,
            .real_bytes = 2 * MIB,
            .peak_real_bytes = 2 * MIB,
            .peak_used_bytes = MIB,
            .limit_bytes = {.value = 64 * MIB, .state = FACT_OK}},
    };

    for (size_t i = 0; i < 2; i++) {
        fixture->facts.processes[1 + i].zend =
            (struct zend_facts){.state = FACT_OK, .heaps = &heaps[i], .heap_count = 1};
    }
    make(fixture);
    assert_int_equal(fixture->input.heap.peak_real_bytes, 48 * MIB);
    assert_int_equal(fixture->input.heap.half_chunks, 5);
    assert_int_equal(fixture->input.heap.limit_bytes.value, 64 * MIB);
    /* of 6, 8, 10, 10: private less what the heaps have resident, the lower median */
    assert_int_equal(fixture->input.base_bytes, 8 * MIB);
    assert_false(fixture->input.idle);
    heaps[0].peak_real_bytes = heaps[1].peak_real_bytes = 2 * MIB;
    heaps[0].peak_used_bytes = heaps[1].peak_used_bytes = 280;
    make(fixture);
    assert_true(fixture->input.idle);
    /* FPM remembers what the heap forgot at the end of the request */
    struct fpm_worker_facts worker = {
        .pid = FIRST, .last_request_memory = fact_ok(32 * MIB)};
    struct fpm_pool_facts pools[2] = {{.name = (char *)"www",
                                          .max_children = fact_ok(30),
                                          .workers = &worker,
                                          .worker_count = 1},
        {.name = (char *)"two", .max_children = fact_ok(7)}};
    fixture->facts.fpm_pools = pools;
    fixture->facts.fpm_pool_count = 2;
    make(fixture);
    assert_int_equal(fixture->input.heap.peak_real_bytes, 32 * MIB);
    assert_false(fixture->input.idle);
    assert_int_equal(fixture->input.workers_allowed, 30);
    assert_int_equal(fixture->input.other_pools_children, 7);
    assert_int_equal(fixture->input.server, PLAN_FPM);
}

/* A look at the status page ends a request and resets PHP's peaks; the kernel forgets none. */
static void the_kernel_remembers_what_php_forgot(void **state)
{
    struct fixture *fixture = *state;
    struct plan plan;
    struct zend_heap_facts heap = {.state = FACT_OK,
        .resident_state = FACT_OK,
        .resident_bytes = 2 * MIB,
        .real_bytes = 2 * MIB,
        .peak_real_bytes = 2 * MIB,
        .peak_used_bytes = 400 * KIB};
    struct process_facts *worker = &fixture->facts.processes[1];

    worker->zend = (struct zend_facts){.state = FACT_OK, .heaps = &heap, .heap_count = 1};
    const uint64_t now = worker->values[PROCESS_FACT_VM_RSS].value;
    worker->values[PROCESS_FACT_VM_HWM] = fact_ok(now + 46 * MIB);
    make(fixture);
    plan_make(&fixture->input, PLAN_P95, &plan);
    assert_true(plan.limit.known);
    assert_int_equal(plan.limit.advised_bytes, 60 * MIB); /* 2 + 46, and a quarter */
    /* no request was beyond the limit that is set, so an upper bound raises none */
    heap.limit_bytes = fact_ok(40 * MIB);
    make(fixture);
    plan_make(&fixture->input, PLAN_P95, &plan);
    assert_int_equal(plan.limit.set_bytes, 40 * MIB);
    assert_int_equal(plan.limit.advised_bytes, 40 * MIB);
    /* a worker that looks unused was not, when it was once large */
    heap.peak_used_bytes = 280;
    make(fixture);
    assert_false(fixture->input.idle);
}

/* What an admin chose on purpose stays: the plan changes numbers, not the mode. */
static void a_pool_on_demand_stays_one(void **state)
{
    struct fixture *fixture = *state;
    struct plan plan;
    struct buffer buffer;
    struct fpm_pool_facts pool = {
        .name = (char *)"www", .manager = FPM_ONDEMAND, .max_children = fact_ok(30)};

    fixture->facts.fpm_pools = &pool;
    fixture->facts.fpm_pool_count = 1;
    make(fixture);
    plan_make(&fixture->input, PLAN_P95, &plan);
    buffer_init(&buffer);
    plan_config(&fixture->input, &plan, PLAN_P95, &buffer);
    assert_non_null(strstr(buffer_text(&buffer), "pm = ondemand\n"));
    assert_non_null(strstr(buffer_text(&buffer), "pm.process_idle_timeout = 10s\n"));
    assert_null(strstr(buffer_text(&buffer), "start_servers"));
    /* nothing worked: its numbers would be made of nothing */
    fixture->input.idle = true;
    buffer_reset(&buffer);
    plan_config(&fixture->input, &plan, PLAN_P95, &buffer);
    assert_null(strstr(buffer_text(&buffer), "max_children"));
    buffer_release(&buffer);
}

static void without_private_memory_there_is_no_plan(void **state)
{
    struct fixture *fixture = *state;

    for (size_t i = 0; i < fixture->facts.process_count; i++) {
        struct process_facts *process = &fixture->facts.processes[i];
        process->values[PROCESS_FACT_PRIVATE_DIRTY].state = FACT_DENIED;
        process->values[PROCESS_FACT_PRIVATE_CLEAN].state = FACT_DENIED;
        process->mapping_count = 0;
        process->mappings_state = FACT_DENIED;
        process->mappings_have_values = false;
    }
    assert_int_equal(snapshot_build(&fixture->facts, &fixture->snapshot), 0);
    assert_int_equal(pool_plan_input(&fixture->region, &fixture->snapshot,
                         &fixture->wishes, &fixture->input),
        -ENODATA);
    snapshot_release(&fixture->snapshot);
}

/* Of a database, how many of it would fit; a pool of one worker is one all the same. */
static void one_process_is_no_pool(void **state)
{
    struct fixture *fixture = *state;
    struct facts *facts = &fixture->facts;

    assert_int_equal(snapshot_build(facts, &fixture->snapshot), 0);
    assert_null(pool_plan_single(&fixture->snapshot));
    snapshot_release(&fixture->snapshot);
    facts->process_count = 1;
    assert_int_equal(snapshot_build(facts, &fixture->snapshot), 0);
    assert_null(pool_plan_single(&fixture->snapshot));
    snapshot_release(&fixture->snapshot);
    facts->processes[0].name = region_copy_text(&facts->region, "mariadbd");
    assert_int_equal(snapshot_build(facts, &fixture->snapshot), 0);
    assert_ptr_equal(pool_plan_single(&fixture->snapshot), &facts->processes[0]);
    snapshot_release(&fixture->snapshot);
}

static void forged_numbers_are_no_processors(void **state)
{
    struct fixture *fixture = *state;
    struct facts *facts = &fixture->facts;

    facts->host.values[HOST_FACT_CPUS_ONLINE] = fact_ok(UINT64_MAX);
    builder_cgroup(facts, 2)->values[CGROUP_FACT_CPU_QUOTA] = fact_ok(UINT64_MAX);
    facts->target_cgroup = 0;
    make(fixture);
    assert_true(fixture->input.processors <= 0);
}

static void processors_are_the_least_of_what_is_there_and_allowed(void **state)
{
    struct fixture *fixture = *state;
    struct facts *facts = &fixture->facts;

    make(fixture);
    assert_true(fixture->input.processors <= 0);
    facts->host.values[HOST_FACT_CPUS_ONLINE] = fact_ok(8);
    make(fixture);
    assert_true(fixture->input.processors > 7.9 && fixture->input.processors < 8.1);
    assert_string_equal(fixture->input.processors_source, "online");
    for (size_t i = 0; i < facts->process_count; i++) {
        /* the master's do not count */
        facts->processes[i].values[PROCESS_FACT_CPUS_ALLOWED] =
            fact_ok(facts->processes[i].pid == MASTER ? 8 : 3);
    }
    make(fixture);
    assert_true(fixture->input.processors > 2.9 && fixture->input.processors < 3.1);
    assert_string_equal(fixture->input.processors_source, "that the workers may run on");
    builder_cgroup(facts, 2)->values[CGROUP_FACT_CPU_QUOTA] = fact_ok(1500000);
    facts->target_cgroup = 0;
    make(fixture);
    assert_true(fixture->input.processors > 1.4 && fixture->input.processors < 1.6);
    assert_string_equal(fixture->input.processors_source, "by the quota of the cgroup");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            workers_are_leaves_and_the_rest_is_there_once, setup, teardown),
        cmocka_unit_test_setup_teardown(wishes_come_first, setup, teardown),
        cmocka_unit_test_setup_teardown(
            processors_are_the_least_of_what_is_there_and_allowed, setup, teardown),
        cmocka_unit_test_setup_teardown(
            forged_numbers_are_no_processors, setup, teardown),
        cmocka_unit_test_setup_teardown(one_process_is_no_pool, setup, teardown),
        cmocka_unit_test_setup_teardown(heaps_tell_limit_and_peak, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_kernel_remembers_what_php_forgot, setup, teardown),
        cmocka_unit_test_setup_teardown(a_pool_on_demand_stays_one, setup, teardown),
        cmocka_unit_test_setup_teardown(
            without_private_memory_there_is_no_plan, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
