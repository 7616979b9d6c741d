/*
 * The statistics region as an outsider sees it, by a second read-only attach of the same
 * segment: after random histories of several threads its figures equal, to the byte, what
 * the test knows of its live blocks, and what the allocator finds when it recounts its
 * bitmaps. Children of fork have a region of their own, also those that no handler of fork
 * knows of. STRATA_TEST_SEED and STRATA_TEST_OPS change the run.
 */
#include "support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "central_figures.h"
#include "front.h"
#include "large.h"
#include "metadata.h"
#include "os.h"
#include "percpu.h"
#include "publish.h"
#include "region.h"
#include "units.h"

#define THREADS 4
#define BLOCKS 400
#define ROUNDS 6
#define CHILD_BLOCKS 20000
#define EMPTIED_BLOCKS 100
#define EMPTIED_BYTES ((size_t)8000)
#define EMPTYING_FORKS 300

/* What anybody can compute from a copy of the region. */
struct figures {
    uint64_t in_use_bytes, in_use_blocks, cached_bytes, touched_bytes, asked_bytes;
};

struct worker {
    pthread_t thread;
    uint64_t random;
    unsigned long operations;
    struct {
        unsigned char *start;
        size_t bytes;
    } blocks[BLOCKS];
};

static struct worker workers[THREADS];
static struct strata_region seen;

/* The id of the segment that is mapped as the region, as its mapping's inode. */
static int segment_id(void)
{
    char line[512];
    FILE *maps = fopen("/proc/self/maps", "r");
    int id = -1;
    assert_non_null(maps);
    while (fgets(line, sizeof(line), maps) != NULL) {
        char *field = line;
        if (strstr(line, "/SYSV5354") == NULL ||
            strtoul(line, NULL, 16) != (uintptr_t)&strata__shared.region) {
            continue;
        }
        for (int skipped = 0; skipped < 4; skipped++) {
            field = strchr(field, ' ');
            assert_non_null(field);
            field += strspn(field, " ");
        }
        id = (int)strtoul(field, NULL, 10);
    }
    (void)fclose(maps);
    return id;
}

/* Copies the region from outside. */
static void look(void)
{
    int id = segment_id();
    assert_int_not_equal(id, -1);
    struct shmid_ds status;
    assert_int_equal(shmctl(id, IPC_STAT, &status), 0);
    assert_int_equal(status.shm_perm.mode & 0222, 0); /* nobody attaches it for writing */
    const struct strata_region *outside = shmat(id, NULL, SHM_RDONLY);
    assert_ptr_not_equal(outside, (void *)-1);
    memset(&seen, 0, sizeof(seen));
    assert_in_range(status.shm_segsz, sizeof(seen) / 4, sizeof(seen));
    memcpy(&seen, outside, status.shm_segsz);
    assert_int_equal(shmdt(outside), 0);
    assert_memory_equal(seen.magic, STRATA_LAYOUT_MAGIC, sizeof(seen.magic));
    assert_int_equal(seen.version, STRATA_LAYOUT_VERSION);
    assert_int_equal(seen.bytes, status.shm_segsz);
    assert_int_equal(seen.process_id, getpid());
    assert_int_equal(seen.class_count, STRATA__BLOCK_CLASSES);
}

static struct figures figures_of(const struct strata_region *region)
{
    struct figures figures = {
        .in_use_bytes = region->large.large_bytes + region->large.huge_bytes,
        .in_use_blocks = region->large.large_blocks + region->large.huge_blocks,
        .asked_bytes = region->large.large_asked_bytes + region->large.huge_asked_bytes,
        .touched_bytes = region->mixed.touched_bytes + region->units.dirty_bytes +
                         region->large.large_bytes + region->large.tail_bytes +
                         region->large.huge_bytes,
    };
    for (unsigned i = 0; i < region->class_count; i++) {
        const struct strata_layout_class *class = &region->classes[i];
        uint64_t cached = 0;
        for (unsigned cpu = 0; cpu < region->cpus_used; cpu++) {
            cached += region->cpus[cpu].counts[i];
        }
        uint64_t out = class->slabs * class->slab_blocks - class->free_blocks +
                       region->mixed.out_blocks[i];
        figures.in_use_blocks += out - cached;
        figures.in_use_bytes += (out - cached) * class->block_bytes;
        figures.cached_bytes += cached * class->block_bytes;
        figures.touched_bytes += class->touched_bytes;
        assert_int_equal(class->sequence % 2, 0);
    }
    assert_int_equal(region->units.sequence % 2, 0);
    assert_int_equal(region->large.sequence % 2, 0);
    return figures;
}

/* What the allocator itself finds, each class by its bitmaps. */
static void compare_with_recount(const struct figures *figures)
{
    struct strata__front_stats stats;
    struct strata__units_stats units;
    struct strata__large_stats large;
    strata__front_check();
    strata__front_get_stats(&stats);
    strata__units_get_stats(&units);
    strata__large_get_stats(&large);
    assert_int_equal(figures->in_use_bytes, stats.in_use_bytes);
    assert_int_equal(figures->in_use_blocks, stats.in_use_blocks);
    assert_int_equal(figures->cached_bytes, stats.cached_bytes);
    assert_int_equal(figures->touched_bytes, stats.resident_bytes);
    assert_int_equal(seen.units.mapped_bytes + seen.large.huge_bytes, stats.mapped_bytes);
    assert_int_equal(seen.descriptor_bytes + seen.table_bytes, stats.metadata_bytes);
    assert_int_equal(seen.units.free_bytes, units.free_bytes);
    assert_int_equal(seen.units.purged_bytes, units.purged_bytes);
    assert_int_equal(seen.units.peak_used_bytes, units.peak_used_bytes);
    assert_int_equal(seen.large.purged_bytes, large.purged_bytes);
    assert_int_equal(seen.large.peak_bytes, large.peak_bytes);
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        struct strata__class_stats class;
        strata__central_get_stats(i, &class);
        assert_int_equal(seen.classes[i].slabs, class.slabs);
        assert_int_equal(seen.classes[i].purged_bytes, class.purged_bytes);
        assert_int_equal(seen.classes[i].peak_out_blocks, class.peak_out_blocks);
        assert_int_equal(seen.classes[i].descriptor_bytes, class.metadata_bytes);
        assert_true(class.peak_out_blocks >= class.out_blocks);
    }
}

static size_t random_bytes(uint64_t *random)
{
    uint64_t kind = test_random(random) % 100;
    if (kind < 80) {
        return test_random(random) % 600;
    }
    if (kind < 97) {
        return test_random(random) % 40000;
    }
    return kind < 99 ? test_random(random) % (2 * MIB) : test_random(random) % (40 * MIB);
}

static void *work(void *context)
{
    struct worker *worker = context;
    for (unsigned long i = 0; i < worker->operations; i++) {
        /* Blocks of all threads change hands between the rounds. */
        unsigned slot = (unsigned)(test_random(&worker->random) % BLOCKS);
        size_t bytes = random_bytes(&worker->random) + 1;
        if (worker->blocks[slot].start == NULL) {
            worker->blocks[slot].start = strata__front_alloc(bytes);
        } else if (bytes % 3 == 0) {
            worker->blocks[slot].start =
                strata__front_realloc(worker->blocks[slot].start, bytes);
        } else {
            strata__front_free(worker->blocks[slot].start);
            worker->blocks[slot].start = NULL;
            bytes = 0;
        }
        worker->blocks[slot].bytes = bytes;
    }
    return NULL;
}

/* Not of a class: only of such blocks it is known what was asked for. */
static int is_of_pages(const void *block)
{
    unsigned kind = strata__entry_kind(strata__unitmap_get(block));
    return kind == STRATA__KIND_LARGE || kind == STRATA__KIND_HUGE;
}

/* The test's own sum over its live blocks. */
static struct figures shadow(void)
{
    struct figures figures = {0};
    for (unsigned i = 0; i < THREADS; i++) {
        for (unsigned j = 0; j < BLOCKS; j++) {
            unsigned char *block = workers[i].blocks[j].start;
            size_t usable = strata__front_usable(block);
            figures.in_use_bytes += usable;
            figures.in_use_blocks += usable > 0;
            figures.asked_bytes += is_of_pages(block) ? workers[i].blocks[j].bytes : 0;
        }
    }
    return figures;
}

/* Hands the blocks of each worker to the next one. */
static void rotate(void)
{
    static struct worker first;
    memcpy(first.blocks, workers[0].blocks, sizeof(first.blocks));
    for (unsigned i = 0; i + 1 < THREADS; i++) {
        memcpy(workers[i].blocks, workers[i + 1].blocks, sizeof(first.blocks));
    }
    memcpy(workers[THREADS - 1].blocks, first.blocks, sizeof(first.blocks));
}

static void run_round(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
}

static void compare_with_shadow(void)
{
    look();
    struct figures figures = figures_of(&seen);
    struct figures known = shadow();
    assert_int_equal(figures.in_use_bytes, known.in_use_bytes);
    assert_int_equal(figures.in_use_blocks, known.in_use_blocks);
    assert_int_equal(figures.asked_bytes, known.asked_bytes);
    compare_with_recount(&figures);
}

static void equals_a_recount_after_any_history(void **state)
{
    (void)state;
    uint64_t random = test_setting("STRATA_TEST_SEED", 1);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].random = test_random(&random);
        workers[i].operations = test_setting("STRATA_TEST_OPS", 12000);
    }
    for (int round = 0; round < ROUNDS; round++) {
        run_round();
        compare_with_shadow();
        if (round % 2 == 1) {
            strata__front_trim();
            compare_with_shadow();
        }
        rotate();
    }
    look();
    assert_true(seen.units.purged_bytes > 0 && seen.large.purged_bytes > 0);
}

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
    int id = segment_id();
    if ((id != -1) != expect_segment || (id == parents_segment && id != -1)) {
        _exit(2);
    }
    struct strata_region *region = &strata__shared.region;
    memcpy(&seen, region, region->bytes);
    struct figures figures = figures_of(&seen);
    struct strata__front_stats stats;
    strata__front_check();
    strata__front_get_stats(&stats);
    if (figures.in_use_bytes != stats.in_use_bytes ||
        figures.in_use_blocks != stats.in_use_blocks ||
        figures.cached_bytes != stats.cached_bytes || stats.in_use_bytes < bytes ||
        seen.descriptor_bytes + seen.table_bytes != stats.metadata_bytes) {
        _exit(3);
    }
    _exit(0);
}

static void a_child_has_its_own(void **state)
{
    (void)state;
    run_round();
    look();
    struct figures before = figures_of(&seen);
    assert_true(before.cached_bytes > 0 || strata__percpu_offset == 0);
    int id = segment_id();
    pid_t child = fork();
    if (child == 0) {
        struct figures known = shadow();
        struct figures figures = figures_of(&strata__shared.region);
        if (figures.in_use_bytes != known.in_use_bytes) {
            _exit(4);
        }
        child_works(id, 1);
    }
    assert_int_equal(exit_code_of(child), 0);
    look();
    struct figures after = figures_of(&seen);
    assert_memory_equal(&before, &after, sizeof(before));
    compare_with_shadow();
}

static void a_child_without_handlers_leaves_the_parents_alone(void **state)
{
    (void)state;
    look();
    struct figures before = figures_of(&seen);
    int id = segment_id();
    pid_t child = (pid_t)syscall(
        SYS_clone, SIGCHLD, 0, 0, 0, 0); /* not every machine has SYS_fork */
    if (child == 0) {
        child_works(id, 1);
    }
    assert_int_equal(exit_code_of(child), 0);
    look();
    struct figures after = figures_of(&seen);
    assert_memory_equal(&before, &after, sizeof(before));
    compare_with_shadow();
    run_round();
    compare_with_shadow();
}

static void forks_beside_busy_threads(void **state)
{
    (void)state;
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
    int id = segment_id();
    for (int i = 0; i < 20; i++) {
        pid_t child = fork();
        if (child == 0) {
            child_works(id, 1);
        }
        assert_int_equal(exit_code_of(child), 0);
    }
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
    compare_with_shadow();
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

static void peaks_start_anew(void **state)
{
    (void)state;
    strata__large_reset_peak();
    look();
    uint64_t peak = seen.large.peak_bytes;
    void *block = strata__front_alloc(200 * MIB);
    look();
    assert_int_equal(seen.large.peak_bytes, peak + 200 * MIB);
    strata__front_free(block);
    strata__large_reset_peak();
    strata__units_reset_peak();
    strata__central_reset_peak(3);
    look();
    assert_int_equal(
        seen.large.peak_bytes, seen.large.large_bytes + seen.large.huge_bytes);
    assert_int_equal(
        seen.units.peak_used_bytes, seen.units.mapped_bytes - seen.units.free_bytes);
    assert_int_equal(seen.classes[3].peak_out_blocks,
        seen.classes[3].slabs * seen.classes[3].slab_blocks -
            seen.classes[3].free_blocks + seen.mixed.out_blocks[3]);
}

/* Each place that the directory names is memory of ours, and none is missing. */
static void the_directory_names_all_memory(void **state)
{
    (void)state;
    const struct strata_directory *directory = &strata__shared.directory;
    uint64_t bytes[STRATA_PLACE_HUGE + 1] = {0};
    for (uint32_t i = 0; i < directory->place_count; i++) {
        uint64_t value = directory->places[i].bytes_and_kind;
        bytes[value & STRATA_PLACE_KIND_MASK] += value & ~STRATA_PLACE_KIND_MASK;
    }
    void *huge = strata__front_alloc(100 * MIB);
    look();
    for (uint32_t i = 0; i < directory->huge_count; i++) {
        uint64_t value = directory->huge[i].bytes_and_kind;
        bytes[STRATA_PLACE_HUGE] += value & ~STRATA_PLACE_KIND_MASK;
    }
    assert_int_equal(directory->places_lost, 0);
    assert_int_equal(bytes[STRATA_PLACE_REGION], seen.units.mapped_bytes);
    assert_int_equal(bytes[STRATA_PLACE_HUGE], seen.large.huge_bytes);
    assert_int_equal(bytes[STRATA_PLACE_TABLE] > 0, seen.table_bytes > 0);
    assert_true(bytes[STRATA_PLACE_DESCRIPTOR] + 2 * PAGE >= seen.descriptor_bytes);
    assert_true(bytes[STRATA_PLACE_MAP] > 0);
    strata__front_free(huge);
}

/* Runs first, while most classes are. */
static void unused_classes_are_shown(void **state)
{
    (void)state;
    look();
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        assert_int_equal(seen.classes[i].block_bytes, strata__block_classes[i].bytes);
        assert_int_equal(seen.classes[i].slab_blocks, strata__block_classes[i].blocks);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unused_classes_are_shown),
        cmocka_unit_test(equals_a_recount_after_any_history),
        cmocka_unit_test(a_child_has_its_own),
        cmocka_unit_test(a_child_without_handlers_leaves_the_parents_alone),
        cmocka_unit_test(forks_beside_busy_threads),
        cmocka_unit_test(forks_while_units_become_empty),
        cmocka_unit_test(r_fork_while_a_span_is_purged),
        cmocka_unit_test(peaks_start_anew),
        cmocka_unit_test(the_directory_names_all_memory),
    };
    strata__region_start(STRATA__REGION_OWNER);
    strata__publish_all();
    strata__percpu_start();
    (void)pthread_atfork(
        strata__front_fork_prepare, strata__front_fork_parent, strata__front_fork_child);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
