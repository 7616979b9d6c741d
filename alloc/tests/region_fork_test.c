/*
 * Children of fork have a statistics region of their own, also those that no handler of fork
 * knows of, and lose nothing that another thread of their parent was at.
 */
#include "region_support.h"

#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front.h"
#include "front_figures.h"
#include "os.h"
#include "percpu.h"
#include "units.h"

#define CHILD_BLOCKS 20000
#define EMPTIED_BLOCKS 100
#define EMPTIED_BYTES ((size_t)8000)
#define EMPTYING_FORKS 300

static int exit_code_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* In a child: works, then compares; an assertion that fails ends it by a signal. */
static _Noreturn void child_works(int parents_segment, int expect_segment)
{
    static void *blocks[CHILD_BLOCKS];
    size_t bytes = 0;
    for (unsigned i = 0; i < CHILD_BLOCKS; i++) {
        blocks[i] = strata__front_alloc(i % 700);
        bytes += strata__front_usable(blocks[i]);
    }
    for (unsigned i = 0; i < CHILD_BLOCKS; i += 2) {
        bytes -= strata__front_usable(blocks[i]);
        strata__front_free(blocks[i]);
    }
    int id = test_segment_id();
    if ((id != -1) != expect_segment || (id == parents_segment && id != -1)) {
        _exit(2);
    }
    struct strata_region *region = &strata__shared.region;
    memcpy(&test_region_seen, region, region->bytes);
    struct test_figures figures = test_region_figures(&test_region_seen);
    struct strata__front_stats stats;
    strata__front_check();
    strata__front_get_stats(&stats);
    if (figures.in_use_bytes != stats.in_use_bytes ||
        figures.in_use_blocks != stats.in_use_blocks ||
        figures.cached_bytes != stats.cached_bytes || stats.in_use_bytes < bytes ||
        test_region_seen.descriptor_bytes + test_region_seen.table_bytes !=
            stats.metadata_bytes) {
        _exit(3);
    }
    _exit(0);
}

/* The child did its work, and what others see of its parent is what it was. */
static void assert_parent_is_as_before(pid_t child, const struct test_figures *before)
{
    assert_int_equal(exit_code_of(child), 0);
    test_region_look();
    struct test_figures after = test_region_figures(&test_region_seen);
    assert_memory_equal(before, &after, sizeof(after));
    test_compare_with_live();
}

static void a_child_has_its_own(void **state)
{
    (void)state;
    test_run_round();
    test_region_look();
    struct test_figures before = test_region_figures(&test_region_seen);
    assert_true(before.cached_bytes > 0 || strata__percpu_offset == 0);
    int id = test_segment_id();
    pid_t child = fork();
    if (child == 0) {
        struct test_figures known = test_live_figures();
        struct test_figures figures = test_region_figures(&strata__shared.region);
        if (figures.in_use_bytes != known.in_use_bytes) {
            _exit(4);
        }
        child_works(id, 1);
    }
    assert_parent_is_as_before(child, &before);
}

static void a_child_without_handlers_leaves_the_parents_alone(void **state)
{
    (void)state;
    test_region_look();
    struct test_figures before = test_region_figures(&test_region_seen);
    int id = test_segment_id();
    pid_t child = (pid_t)syscall(
        SYS_clone, SIGCHLD, 0, 0, 0, 0); /* not every machine has SYS_fork */
    if (child == 0) {
        child_works(id, 1);
    }
    assert_parent_is_as_before(child, &before);
    test_run_round();
    test_compare_with_live();
}

static void forks_beside_busy_threads(void **state)
{
    (void)state;
    test_start_threads();
    int id = test_segment_id();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_works(id, 1);
        }
        assert_int_equal(exit_code_of(child), 0);
    }
    test_join_threads();
    test_compare_with_live();
}

/* Bytes of units that are neither free nor known to be of small blocks: of large blocks alone. */
static uint64_t other_units(const struct strata_region *region)
{
    uint64_t units = region->mixed.units;
    for (unsigned i = 0; i < region->class_count; i++) {
        units += region->classes[i].slabs;
    }
    return region->units.mapped_bytes - region->units.free_bytes -
           units * STRATA__UNIT_BYTES;
}

static int is_emptying;

/* Fills units with blocks that no CPU keeps many of, and empties them again. */
static void *empty_units(void *nothing)
{
    void *blocks[EMPTIED_BLOCKS];
    while (__atomic_load_n(&is_emptying, __ATOMIC_RELAXED)) {
        for (unsigned i = 0; i < EMPTIED_BLOCKS; i++) {
            blocks[i] = strata__front_alloc(EMPTIED_BYTES);
        }
        for (unsigned i = 0; i < EMPTIED_BLOCKS; i++) {
            strata__front_free(blocks[i]);
        }
    }
    return nothing;
}

/* A unit that has just become empty is lost to no child. */
static void forks_while_units_become_empty(void **state)
{
    (void)state;
    pthread_t thread;
    uint64_t before = other_units(&strata__shared.region);
    is_emptying = 1;
    assert_int_equal(pthread_create(&thread, NULL, empty_units, NULL), 0);
    for (int i = 0; i < EMPTYING_FORKS; i++) {
        pid_t child = fork();
        if (child == 0) {
            _exit(other_units(&strata__shared.region) != before);
        }
        assert_int_equal(exit_code_of(child), 0);
    }
    __atomic_store_n(&is_emptying, 0, __ATOMIC_RELAXED);
    assert_int_equal(pthread_join(thread, NULL), 0);
}

static int is_purging;

static int purge_slowly(void *address, size_t bytes)
{
    __atomic_store_n(&is_purging, 1, __ATOMIC_RELEASE);
    usleep(100000);
    return strata__os_linux.purge(address, bytes);
}

static void *purge_all(void *nothing)
{
    (void)strata__units_purge(UINT32_MAX, 0);
    return nothing;
}

/* A span whose pages go back at this moment must not be lost to the child. */
static void r_fork_while_a_span_is_purged(void **state)
{
    (void)state;
    struct strata__os_ops slow = strata__os_linux;
    pthread_t thread;
    void *block = strata__front_alloc(MIB);
    memset(block, 1, MIB);
    strata__front_free(block);
    slow.purge = purge_slowly;
    strata__os = &slow;
    assert_int_equal(pthread_create(&thread, NULL, purge_all, NULL), 0);
    while (!__atomic_load_n(&is_purging, __ATOMIC_ACQUIRE)) {
        usleep(100);
    }
    pid_t child = fork();
    if (child == 0) {
        strata__os = &strata__os_linux;
        strata__front_check();
        _exit(0);
    }
    assert_int_equal(pthread_join(thread, NULL), 0);
    strata__os = &strata__os_linux;
    assert_int_equal(exit_code_of(child), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_has_its_own),
        cmocka_unit_test(a_child_without_handlers_leaves_the_parents_alone),
        cmocka_unit_test(forks_beside_busy_threads),
        cmocka_unit_test(forks_while_units_become_empty),
        cmocka_unit_test(r_fork_while_a_span_is_purged),
    };
    test_region_start();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
