/*
 * region_support.c - a second read-only attach of the region's segment, threads that work at
 * random, and the sum over their live blocks.
 */
#include "region_support.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/shm.h>
#include <unistd.h>

#include "central_figures.h"
#include "fork.h"
#include "front.h"
#include "front_figures.h"
#include "large_books.h"
#include "metadata.h"
#include "percpu.h"
#include "publish.h"
#include "units.h"

#define THREADS 4
#define BLOCKS 400

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
struct strata_region test_region_seen;

int test_segment_id(void)
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

void test_region_look(void)
{
    int id = test_segment_id();
    assert_int_not_equal(id, -1);
    struct shmid_ds status;
    assert_int_equal(shmctl(id, IPC_STAT, &status), 0);
    assert_int_equal(status.shm_perm.mode & 0222, 0); /* nobody attaches it for writing */
    const struct strata_region *outside = shmat(id, NULL, SHM_RDONLY);
    assert_ptr_not_equal(outside, (void *)-1);
    memset(&test_region_seen, 0, sizeof(test_region_seen));
    assert_in_range(
        status.shm_segsz, sizeof(test_region_seen) / 4, sizeof(test_region_seen));
    memcpy(&test_region_seen, outside, status.shm_segsz);
    assert_int_equal(shmdt(outside), 0);
    assert_memory_equal(
        test_region_seen.magic, STRATA_LAYOUT_MAGIC, sizeof(test_region_seen.magic));
    assert_int_equal(test_region_seen.version, STRATA_LAYOUT_VERSION);
    assert_int_equal(test_region_seen.bytes, status.shm_segsz);
    assert_int_equal(test_region_seen.process_id, getpid());
    assert_int_equal(test_region_seen.class_count, STRATA__BLOCK_CLASSES);
}

struct test_figures test_region_figures(const struct strata_region *region)
{
    struct test_figures figures = {
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
static void compare_with_recount(const struct test_figures *figures)
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
    assert_int_equal(
        test_region_seen.units.mapped_bytes + test_region_seen.large.huge_bytes,
        stats.mapped_bytes);
    assert_int_equal(test_region_seen.descriptor_bytes + test_region_seen.table_bytes,
        stats.metadata_bytes);
    assert_int_equal(test_region_seen.units.free_bytes, units.free_bytes);
    assert_int_equal(test_region_seen.units.purged_bytes, units.purged_bytes);
    assert_int_equal(test_region_seen.units.peak_used_bytes, units.peak_used_bytes);
    assert_int_equal(test_region_seen.large.purged_bytes, large.purged_bytes);
    assert_int_equal(test_region_seen.large.peak_bytes, large.peak_bytes);
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        struct strata__class_stats class;
        strata__central_get_stats(i, &class);
        assert_int_equal(test_region_seen.classes[i].slabs, class.slabs);
        assert_int_equal(test_region_seen.classes[i].purged_bytes, class.purged_bytes);
        assert_int_equal(
            test_region_seen.classes[i].peak_out_blocks, class.peak_out_blocks);
        assert_int_equal(
            test_region_seen.classes[i].descriptor_bytes, class.metadata_bytes);
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

struct test_figures test_live_figures(void)
{
    struct test_figures figures = {0};
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

void test_hand_blocks_on(void)
{
    static struct worker first;
    memcpy(first.blocks, workers[0].blocks, sizeof(first.blocks));
    for (unsigned i = 0; i + 1 < THREADS; i++) {
        memcpy(workers[i].blocks, workers[i + 1].blocks, sizeof(first.blocks));
    }
    memcpy(workers[THREADS - 1].blocks, first.blocks, sizeof(first.blocks));
}

void test_start_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&workers[i].thread, NULL, work, &workers[i]), 0);
    }
}

void test_join_threads(void)
{
    for (unsigned i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(workers[i].thread, NULL), 0);
    }
}

void test_run_round(void)
{
    test_start_threads();
    test_join_threads();
}

void test_region_start(void)
{
    uint64_t random = test_setting("STRATA_TEST_SEED", 1);
    for (unsigned i = 0; i < THREADS; i++) {
        workers[i].random = test_random(&random);
        workers[i].operations = test_setting("STRATA_TEST_OPS", 12000);
    }
    strata__region_start(STRATA__REGION_OWNER);
    strata__publish_all();
    strata__percpu_start();
    (void)pthread_atfork(strata__fork_prepare, strata__fork_parent, strata__fork_child);
}

void test_compare_with_live(void)
{
    test_region_look();
    struct test_figures figures = test_region_figures(&test_region_seen);
    struct test_figures known = test_live_figures();
    assert_int_equal(figures.in_use_bytes, known.in_use_bytes);
    assert_int_equal(figures.in_use_blocks, known.in_use_blocks);
    assert_int_equal(figures.asked_bytes, known.asked_bytes);
    compare_with_recount(&figures);
}
