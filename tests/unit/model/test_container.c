/* test_container.c - the figures of docker, kubelet and podman, on published reports. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "model/container.h"

static void set(struct cgroup_facts *cgroup, enum cgroup_fact fact, uint64_t value)
{
    cgroup->values[fact] = fact_ok(value);
}

#define assert_figure(fact, bytes)                                                       \
    do {                                                                                 \
        assert_int_equal((fact).state, FACT_OK);                                         \
        assert_int_equal((fact).value, (bytes));                                         \
    } while (0)

/* Report C32 (moby#10824): docker said 329.6 MiB, the API 784.8 MB. */
static void r_c32_old_docker_subtracts_the_whole_cache(void **state)
{
    struct cgroup_facts cgroup = {.version = 1};
    struct container_view view;

    (void)state;
    set(&cgroup, CGROUP_FACT_USAGE, 822935552);
    set(&cgroup, CGROUP_FACT_FILE, 477356032);
    set(&cgroup, CGROUP_FACT_ANON, 345579520);
    view = container_view_of(&cgroup);

    assert_figure(view.docker_19, 345579520);
    assert_figure(view.podman, 822935552);
    /* Neither key of inactive_file exists in the report: nothing to subtract. */
    assert_figure(view.docker, 822935552);
    assert_int_equal(view.headroom.state, FACT_ABSENT);
}

/* Report C35 (podman#19905): 2.87 GB by podman, 205.8 MiB by docker's formula. */
static void r_c35_three_tools_three_numbers(void **state)
{
    struct cgroup_facts cgroup = {.version = 1};
    struct container_view view;

    (void)state;
    set(&cgroup, CGROUP_FACT_USAGE, 2869575680);
    set(&cgroup, CGROUP_FACT_FILE, 2842775552);
    set(&cgroup, CGROUP_FACT_ANON, 675840);
    set(&cgroup, CGROUP_FACT_INACTIVE_FILE, 2653802496);
    set(&cgroup, CGROUP_FACT_ACTIVE_FILE, 188973056);
    set(&cgroup, CGROUP_FACT_LIMIT, 4294967296);
    view = container_view_of(&cgroup);

    assert_figure(view.podman, 2869575680);
    assert_figure(view.docker, 215773184);
    assert_figure(view.kubelet, 215773184);
    assert_figure(view.docker_19, 26800128);
    assert_figure(view.non_reclaimable, 26800128);
    assert_figure(view.headroom, 1425391616);
}

/* The trap: hierarchical inactive_file above usage, so docker takes the local one. */
static void docker_falls_through_to_the_local_key_on_version_1(void **state)
{
    struct cgroup_facts cgroup = {.version = 1};
    struct container_view view;

    (void)state;
    set(&cgroup, CGROUP_FACT_USAGE, 100 * MIB);
    set(&cgroup, CGROUP_FACT_FILE, 110 * MIB);
    set(&cgroup, CGROUP_FACT_INACTIVE_FILE, 100 * MIB);
    set(&cgroup, CGROUP_FACT_LOCAL_INACTIVE_FILE, 30 * MIB);
    view = container_view_of(&cgroup);
    assert_figure(view.docker, 70 * MIB);
    assert_figure(view.kubelet, 0);

    set(&cgroup, CGROUP_FACT_LOCAL_INACTIVE_FILE, 100 * MIB);
    view = container_view_of(&cgroup);
    assert_figure(view.docker, 100 * MIB);

    /* Version 2 has one key only, and no cache of old docker's kind. */
    cgroup.version = 2;
    set(&cgroup, CGROUP_FACT_LOCAL_INACTIVE_FILE, 30 * MIB);
    view = container_view_of(&cgroup);
    assert_figure(view.docker, 100 * MIB);
    assert_int_equal(view.docker_19.state, FACT_ABSENT);
}

static void non_reclaimable_keeps_shared_and_dirty_memory(void **state)
{
    struct cgroup_facts cgroup = {.version = 2};

    (void)state;
    set(&cgroup, CGROUP_FACT_USAGE, 500 * MIB);
    set(&cgroup, CGROUP_FACT_FILE, 300 * MIB);
    set(&cgroup, CGROUP_FACT_SHMEM, 40 * MIB);
    set(&cgroup, CGROUP_FACT_FILE_DIRTY, 7 * MIB);
    set(&cgroup, CGROUP_FACT_FILE_WRITEBACK, 3 * MIB);
    set(&cgroup, CGROUP_FACT_SLAB_RECLAIMABLE, 20 * MIB);
    assert_figure(container_view_of(&cgroup).non_reclaimable, 230 * MIB);

    /* Lagging counters may leave nothing: never below zero. */
    set(&cgroup, CGROUP_FACT_SLAB_RECLAIMABLE, 600 * MIB);
    assert_figure(container_view_of(&cgroup).non_reclaimable, 0);
}

static void what_was_denied_stays_denied(void **state)
{
    struct cgroup_facts cgroup = {.version = 2};
    struct container_view view;

    (void)state;
    set(&cgroup, CGROUP_FACT_USAGE, 500 * MIB);
    cgroup.values[CGROUP_FACT_FILE].state = FACT_DENIED;
    view = container_view_of(&cgroup);
    assert_int_equal(view.docker.state, FACT_DENIED);
    assert_int_equal(view.kubelet.state, FACT_DENIED);
    assert_int_equal(view.non_reclaimable.state, FACT_DENIED);
    assert_figure(view.podman, 500 * MIB);
    assert_int_equal(container_view_of(NULL).podman.state, FACT_ABSENT);
}

/* The limit of an ancestor binds as well: the reader has looked at all of them. */
static void headroom_is_that_of_the_tightest_ancestor(void **state)
{
    struct cgroup_facts cgroup = {.version = 2};

    (void)state;
    set(&cgroup, CGROUP_FACT_USAGE, 500 * MIB);
    set(&cgroup, CGROUP_FACT_LIMIT, 900 * MIB);
    assert_figure(container_view_of(&cgroup).headroom, 400 * MIB);
    set(&cgroup, CGROUP_FACT_HEADROOM, 10 * MIB);
    assert_figure(container_view_of(&cgroup).headroom, 10 * MIB);
    assert_figure(container_view_of(&cgroup).limit, 900 * MIB);
    set(&cgroup, CGROUP_FACT_LIMIT_EFFECTIVE, 600 * MIB);
    assert_figure(container_view_of(&cgroup).limit, 600 * MIB);
}

static void charged_parts_sum_to_usage(void **state)
{
    struct cgroup_facts cgroup = {.version = 2};
    struct layer layer = {.id = LAYER_CHARGED};
    struct region region;

    (void)state;
    region_init(&region, 1 << 20);
    set(&cgroup, CGROUP_FACT_USAGE, 1000);
    set(&cgroup, CGROUP_FACT_ANON, 400);
    set(&cgroup, CGROUP_FACT_FILE, 300);
    set(&cgroup, CGROUP_FACT_SHMEM, 100);
    set(&cgroup, CGROUP_FACT_KERNEL, 150);
    set(&cgroup, CGROUP_FACT_SLAB_RECLAIMABLE, 90);
    set(&cgroup, CGROUP_FACT_KERNEL_STACK, 20);
    assert_int_equal(container_charged_layer(&region, &cgroup, &layer), 0);
    assert_int_equal(layer.bytes, 1000);
    assert_int_equal(layer_part_bytes(&layer, "charged-anon"), 400);
    assert_int_equal(layer_part_bytes(&layer, "charged-file"), 200);
    assert_int_equal(layer_part_bytes(&layer, "charged-shmem"), 100);
    assert_int_equal(layer_part_bytes(&layer, "charged-slab-reclaimable"), 90);
    assert_int_equal(layer_part_bytes(&layer, "charged-kernel-other"), 40);
    assert_int_equal(layer_part_bytes(&layer, "charged-rest"), 150);
    assert_int_equal(layer.plus_minus_bytes, 0);

    /* Classes above usage: the largest gives way, and the excess is said. */
    set(&cgroup, CGROUP_FACT_USAGE, 700);
    assert_int_equal(container_charged_layer(&region, &cgroup, &layer), 0);
    assert_int_equal(layer.bytes, 700);
    assert_int_equal(layer_part_bytes(&layer, "charged-anon"), 250);
    assert_int_equal(layer.plus_minus_bytes, 150);
    region_release(&region);
}

static void a_missing_bill_says_why(void **state)
{
    struct cgroup_facts cgroup = {.version = 2, .root = true};
    struct layer layer = {.id = LAYER_CHARGED};
    struct region region;

    (void)state;
    region_init(&region, 1 << 20);
    assert_int_equal(container_charged_layer(&region, &cgroup, &layer), 0);
    assert_int_equal(layer.state, FACT_ABSENT);
    assert_string_equal(layer.source, "the root cgroup has no bill of its own");
    assert_int_equal(container_charged_layer(&region, NULL, &layer), 0);
    assert_int_equal(layer.state, FACT_ABSENT);
    assert_non_null(layer.source);
    region_release(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(r_c32_old_docker_subtracts_the_whole_cache),
        cmocka_unit_test(r_c35_three_tools_three_numbers),
        cmocka_unit_test(docker_falls_through_to_the_local_key_on_version_1),
        cmocka_unit_test(non_reclaimable_keeps_shared_and_dirty_memory),
        cmocka_unit_test(what_was_denied_stays_denied),
        cmocka_unit_test(headroom_is_that_of_the_tightest_ancestor),
        cmocka_unit_test(charged_parts_sum_to_usage),
        cmocka_unit_test(a_missing_bill_says_why),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
