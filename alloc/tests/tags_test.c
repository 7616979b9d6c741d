/*
 * Tags, names and ceilings of threads, and the figures of strata/malloc.h, against what the
 * test knows of its blocks: nested tags, blocks freed by others, blocks that grow and move,
 * threads that end, children of fork. Each case begins before or after the first tag as the
 * order below says.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fork.h"
#include "front.h"
#include "front_figures.h"
#include "percpu.h"
#include "publish.h"
#include "region.h"
#include "strata/malloc.h"
#include "tags.h"

#define BLOCKS 300
#define THREADS 4
#define OPERATIONS 20000
#define NAMES 3

static const char *const names[NAMES] = {"sql/sort", "sql/join", "net/buffer"};

static struct strata_tag_usage usage_of(const char *tag, int mine)
{
    struct strata_tag_usage usage = {.struct_bytes = sizeof(usage)};
    int failed =
        mine ? strata_tag_get_mine(tag, &usage) : strata_tag_get_all(tag, &usage);
    assert_true(failed == 0 || failed == ENOENT);
    return usage;
}

/* ---- before the first tag */

static void nothing_is_slower_before_the_first_tag(void **state)
{
    (void)state;
    assert_int_equal(strata__tags_active, 0);
    assert_int_equal(strata_thread_set_name("main thread"), 0);
    strata_tag_pop();
    assert_int_equal(strata__tags_active, 0);
    assert_true(strata__percpu_rseq == strata__percpu_offset);
    assert_int_equal(strata_tag_push(""), EINVAL);
    assert_int_equal(strata_tag_push(NULL), EINVAL);
}

static void figures_equal_the_books(void **state)
{
    (void)state;
    void *small = strata__front_alloc(1000);
    void *large = strata__front_alloc(100000);
    struct strata_malloc_stats stats = {.struct_bytes = sizeof(stats)};
    struct strata__front_stats front;
    assert_int_equal(strata_malloc_get_stats(&stats), 0);
    strata__front_get_stats(&front);
    assert_int_equal(stats.in_use_bytes, front.in_use_bytes);
    assert_int_equal(stats.in_use_blocks, front.in_use_blocks);
    assert_int_equal(stats.touched_bytes, front.resident_bytes);
    assert_int_equal(
        stats.held_bytes, stats.in_use_bytes + stats.cached_bytes + stats.free_bytes);
    assert_int_equal(stats.large_bytes - stats.large_asked_bytes, 102400 - 100000);
    size_t small_bytes = 0;
    unsigned number = 0;
    struct strata_malloc_class class = {.struct_bytes = sizeof(class)};
    for (; strata_malloc_get_class(number, &class) == 0; number++) {
        small_bytes += class.in_use_blocks * class.block_bytes;
    }
    assert_int_equal(number, STRATA__BLOCK_CLASSES);
    assert_int_equal(small_bytes + stats.large_bytes, stats.in_use_bytes);
    strata__front_free(large);
    assert_int_equal(strata_malloc_get_stats(&stats), 0);
    assert_true(stats.peak_large_bytes >= stats.large_bytes + 102400);
    strata_malloc_reset_peaks();
    assert_int_equal(strata_malloc_get_stats(&stats), 0);
    assert_int_equal(stats.peak_large_bytes, stats.large_bytes);
    strata__front_free(small);
}

/* A caller that knows fewer fields gets those; one that says no size is told. */
static void sizes_of_structs_are_respected(void **state)
{
    (void)state;
    struct strata_malloc_stats stats = {0};
    assert_int_equal(strata_malloc_get_stats(&stats), EINVAL);
    memset(&stats, 0x5a, sizeof(stats));
    stats.struct_bytes = 2 * sizeof(size_t);
    size_t untouched = stats.in_use_blocks;
    assert_int_equal(strata_malloc_get_stats(&stats), 0);
    assert_int_equal(stats.struct_bytes, 2 * sizeof(size_t));
    assert_int_not_equal(stats.in_use_bytes, untouched);
    assert_int_equal(stats.in_use_blocks, untouched);
    assert_int_equal(strata_malloc_get_stats(NULL), EINVAL);
}

/* ---- with tags */

static void *free_it(void *block)
{
    strata__front_free(block);
    return NULL;
}

static void blocks_count_for_who_allocated_them(void **state)
{
    (void)state;
    void *before = strata__front_alloc(100);
    assert_int_equal(strata_tag_push("outer"), 0);
    void *outer = strata__front_alloc(100);
    assert_int_equal(strata_tag_push("inner"), 0);
    void *inner = strata__front_alloc(40000);
    void *huge = strata__front_alloc(50 * MIB);
    strata_tag_pop();
    void *outer_too = strata__front_aligned(4096, 100);
    strata_tag_pop();
    void *after = strata__front_alloc(100);

    struct strata_tag_usage usage = usage_of("outer", 1);
    assert_int_equal(usage.used_bytes, 112 + 4096);
    assert_int_equal(usage.used_blocks, 2);
    usage = usage_of("inner", 0);
    assert_int_equal(usage.used_bytes, 40960 + 50 * MIB);
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, free_it, inner), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    strata__front_free(huge);
    usage = usage_of("inner", 1);
    assert_int_equal(usage.used_bytes, 0);
    assert_int_equal(usage.used_blocks, 0);
    assert_int_equal(usage.peak_bytes, 40960 + 50 * MIB);
    assert_int_equal(usage.allocations, 2);
    strata__front_free(outer);
    strata__front_free(outer_too);
    strata__front_free(before);
    strata__front_free(after);
    assert_int_equal(usage_of("outer", 1).used_bytes, 0);
}

/* A block that grows in place or is moved by the kernel keeps its tag; one that is copied
 * takes the tag of who resizes it. */
static void resized_blocks_are_followed(void **state)
{
    (void)state;
    assert_int_equal(strata_tag_push("grown"), 0);
    char *block = strata__front_alloc(100);
    for (size_t bytes = 1000; bytes < 80 * MIB; bytes *= 3) {
        block = strata__front_realloc(block, bytes);
        assert_int_equal(usage_of("grown", 1).used_bytes, strata__front_usable(block));
    }
    block = strata__front_realloc(block, 2 * MIB);
    assert_int_equal(usage_of("grown", 1).used_bytes, strata__front_usable(block));
    strata_tag_pop();
    block = strata__front_realloc(block, 3 * MIB);
    assert_int_equal(usage_of("grown", 1).used_bytes, 3 * MIB);
    block = strata__front_realloc(block, 10);
    assert_int_equal(usage_of("grown", 1).used_bytes, 0);
    strata__front_free(block);
}

struct tagged {
    char *start;
    int name;
};

static struct {
    pthread_mutex_t lock;
    struct tagged blocks[BLOCKS];
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* Random tags; blocks come from and go to a pool that all threads share. */
static void *work(void *seed)
{
    uint64_t random = *(const uint64_t *)seed;
    for (int i = 0; i < OPERATIONS; i++) {
        int name = (int)(test_random(&random) % (NAMES + 1));
        struct tagged fresh = {.name = name};
        if (test_random(&random) % 3 > 0) {
            if (name < NAMES) {
                (void)strata_tag_push(names[name]);
            }
            size_t bytes = test_random(&random) % 50 == 0
                               ? test_random(&random) % (2 * MIB)
                               : test_random(&random) % 3000;
            fresh.start = strata__front_alloc(bytes);
            if (name < NAMES) {
                strata_tag_pop();
            }
        }
        pthread_mutex_lock(&pool.lock);
        struct tagged *place = &pool.blocks[test_random(&random) % BLOCKS];
        struct tagged old = *place;
        *place = fresh;
        pthread_mutex_unlock(&pool.lock);
        strata__front_free(old.start);
    }
    return NULL;
}

static void compare_with_pool(void)
{
    for (int name = 0; name < NAMES; name++) {
        size_t bytes = 0;
        size_t blocks = 0;
        for (int i = 0; i < BLOCKS; i++) {
            if (pool.blocks[i].start != NULL && pool.blocks[i].name == name) {
                bytes += strata__front_usable(pool.blocks[i].start);
                blocks++;
            }
        }
        struct strata_tag_usage usage = usage_of(names[name], 0);
        assert_int_equal(usage.used_bytes, bytes);
        assert_int_equal(usage.used_blocks, blocks);
        /* And so for a reader of the region. */
        const struct strata_region *region = &strata__shared.region;
        size_t shown = 0;
        for (uint32_t i = 0; i < region->record_count; i++) {
            if (strcmp(region->tags[region->records[i].tag], names[name]) == 0) {
                shown += region->records[i].used_bytes;
            }
            assert_int_equal(region->records[i].sequence % 2, 0);
        }
        assert_int_equal(shown, bytes);
    }
}

static void sums_hold_for_many_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uint64_t seeds[THREADS];
    for (int round = 0; round < 3; round++) {
        for (unsigned i = 0; i < THREADS; i++) {
            seeds[i] = i + 10U * (unsigned)round + 1;
            assert_int_equal(pthread_create(&threads[i], NULL, work, &seeds[i]), 0);
        }
        for (unsigned i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_join(threads[i], NULL), 0);
        }
        compare_with_pool();
        strata__front_check();
    }
}

static int exit_code_of(pid_t child)
{
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void a_child_goes_on_with_its_own(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        compare_with_pool();
        uint64_t seed = 99;
        work(&seed);
        compare_with_pool();
        _exit(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    compare_with_pool();
    for (int i = 0; i < BLOCKS; i++) {
        strata__front_free(pool.blocks[i].start);
        pool.blocks[i].start = NULL;
    }
    compare_with_pool();
}

static void *short_life(void *nothing)
{
    (void)nothing;
    assert_int_equal(strata_thread_set_name("a connection"), 0);
    assert_int_equal(strata_tag_push("net/buffer"), 0);
    void *block = strata__front_alloc(100);
    strata__front_free(block);
    strata_tag_pop();
    return NULL;
}

/* One after another, more than there are slots. */
static void slots_of_ended_threads_are_used_again(void **state)
{
    (void)state;
    for (int i = 0; i < 3 * STRATA_LAYOUT_THREADS; i++) {
        pthread_t thread;
        assert_int_equal(pthread_create(&thread, NULL, short_life, NULL), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_true(strata__shared.region.thread_count < 50);
    assert_string_equal(strata__shared.region.threads[0].name, "main thread");
}

static void what_finds_no_room_is_told_and_balanced(void **state)
{
    (void)state;
    char name[STRATA_LAYOUT_TAG_BYTES + 1];
    int failed = 0;
    for (int i = 0; i < 40; i++) {
        failed = strata_tag_push("deep");
    }
    assert_int_equal(failed, ENOSPC);
    for (int i = 0; i < 40; i++) {
        strata_tag_pop();
    }
    for (int i = 0; i < STRATA_LAYOUT_TAGS; i++) {
        (void)snprintf(name, sizeof(name), "many/%d", i);
        failed = strata_tag_push(name);
        strata_tag_pop();
    }
    assert_int_equal(failed, ENOSPC);
    memset(name, 'x', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    assert_int_equal(strata_tag_push(name), EINVAL);
    size_t before = usage_of("deep", 1).used_bytes;
    void *block = strata__front_alloc(10); /* under no tag */
    assert_int_equal(usage_of("deep", 1).used_bytes, before);
    strata__front_free(block);
}

static void *under_a_ceiling(void *nothing)
{
    (void)nothing;
    assert_int_equal(strata_thread_set_ceiling(100000), 0);
    void *small = strata__front_alloc(1000);
    assert_non_null(small);
    errno = 0;
    assert_null(strata__front_alloc(100000));
    assert_int_equal(errno, ENOMEM);
    void *large = strata__front_alloc(50000);
    assert_non_null(large);
    errno = 0;
    assert_null(strata__front_realloc(large, 200000));
    assert_int_equal(errno, ENOMEM);
    assert_non_null(strata__front_realloc(small, 2000));
    assert_null(strata__front_calloc(3, 20000));
    strata__front_free(large);
    large = strata__front_calloc(3, 20000);
    assert_non_null(large);
    assert_int_equal(strata_thread_set_ceiling(0), 0);
    void *more = strata__front_alloc(MIB);
    assert_non_null(more);
    strata__front_free(more);
    strata__front_free(large);
    return NULL;
}

static void *grows_a_block_from_before(void *block)
{
    char *mine = strata__front_alloc(8 * MIB);
    assert_non_null(mine);
    /* Room for a copy too: whether a block grows in place is up to its neighbours. */
    assert_int_equal(strata_thread_set_ceiling(20 * MIB), 0);
    /* Of nobody, and more than the ceiling. */
    for (size_t bytes = 65 * MIB; bytes < 70 * MIB; bytes += MIB / 2) {
        errno = 0;
        assert_null(strata__front_realloc(block, bytes));
        assert_int_equal(errno, ENOMEM);
    }
    assert_true(strata__front_usable(block) == 64 * MIB);
    /* Fits, and is this thread's from then on. */
    mine = strata__front_realloc(mine, 9 * MIB);
    assert_non_null(mine);
    assert_null(strata__front_alloc(12 * MIB));
    assert_null(strata__front_realloc(mine, 21 * MIB));
    mine = strata__front_realloc(mine, 10 * MIB);
    assert_non_null(mine);
    assert_null(strata__front_alloc(11 * MIB));
    strata__front_free(mine);
    mine = strata__front_alloc(19 * MIB);
    assert_non_null(mine);
    strata__front_free(mine);
    assert_int_equal(strata_thread_set_ceiling(0), 0);
    return NULL;
}

/* Of another thread under a tag: growing takes the block over, with what it holds. */
static void *grows_a_block_of_another(void *block)
{
    size_t before = usage_of("lent", 0).used_bytes;
    assert_int_equal(strata_thread_set_ceiling(70 * MIB), 0);
    block = strata__front_realloc(block, 66 * MIB);
    assert_non_null(block);
    assert_int_equal(usage_of("lent", 0).used_bytes, before - 64 * MIB);
    assert_null(strata__front_alloc(5 * MIB));
    strata__front_free(block);
    assert_int_equal(strata_thread_set_ceiling(0), 0);
    return NULL;
}

static void r_growing_in_place_does_not_evade_a_ceiling(void **state)
{
    (void)state;
    pthread_t thread;
    void *block = strata__front_alloc(64 * MIB);
    assert_int_equal(pthread_create(&thread, NULL, grows_a_block_from_before, block), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    strata__front_free(block);
    assert_int_equal(strata_tag_push("lent"), 0);
    block = strata__front_alloc(64 * MIB);
    strata_tag_pop();
    assert_int_equal(pthread_create(&thread, NULL, grows_a_block_of_another, block), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    assert_int_equal(usage_of("lent", 1).used_bytes, 0);
}

enum { GROWING_THREADS = 3, GROWING_ROUNDS = 2000 };

/* Grows and frees huge blocks; the addresses that they leave are the other threads' next ones. */
static void *grows_beside_others(void *name)
{
    assert_int_equal(strata_tag_push(name), 0);
    for (size_t i = 0; i < GROWING_ROUNDS; i++) {
        size_t bytes = (1 + i % 3) * MIB;
        void *block = strata__front_alloc(bytes);
        for (size_t j = 0; block != NULL && j < 3; j++) {
            bytes += (1 + (i + j) % 4) * MIB;
            block = strata__front_realloc(block, bytes);
        }
        strata__front_free(block);
    }
    strata_tag_pop();
    return NULL;
}

static void r_growing_beside_others_keeps_each_account(void **state)
{
    (void)state;
    static char tags[GROWING_THREADS][8] = {"grows-a", "grows-b", "grows-c"};
    pthread_t threads[GROWING_THREADS];
    for (size_t i = 0; i < GROWING_THREADS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, grows_beside_others, tags[i]), 0);
    }
    for (size_t i = 0; i < GROWING_THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (size_t i = 0; i < GROWING_THREADS; i++) {
        assert_int_equal(usage_of(tags[i], 0).used_bytes, 0);
        assert_int_equal(usage_of(tags[i], 0).used_blocks, 0);
    }
}

static void a_ceiling_holds_for_its_thread_alone(void **state)
{
    (void)state;
    pthread_t thread;
    assert_int_equal(pthread_create(&thread, NULL, under_a_ceiling, NULL), 0);
    assert_int_equal(pthread_join(thread, NULL), 0);
    void *block = strata__front_alloc(MIB);
    assert_non_null(block);
    strata__front_free(block);
    uint64_t refused = 0;
    for (uint32_t i = 0; i < strata__shared.region.thread_count; i++) {
        refused += strata__shared.region.threads[i].refused;
    }
    assert_int_equal(refused, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_is_slower_before_the_first_tag),
        cmocka_unit_test(figures_equal_the_books),
        cmocka_unit_test(sizes_of_structs_are_respected),
        cmocka_unit_test(blocks_count_for_who_allocated_them),
        cmocka_unit_test(resized_blocks_are_followed),
        cmocka_unit_test(sums_hold_for_many_threads),
        cmocka_unit_test(a_child_goes_on_with_its_own),
        cmocka_unit_test(slots_of_ended_threads_are_used_again),
        cmocka_unit_test(a_ceiling_holds_for_its_thread_alone),
        cmocka_unit_test(r_growing_in_place_does_not_evade_a_ceiling),
        cmocka_unit_test(r_growing_beside_others_keeps_each_account),
        cmocka_unit_test(what_finds_no_room_is_told_and_balanced),
    };
    strata__region_start(STRATA__REGION_OWNER);
    strata__publish_all();
    strata__percpu_start();
    (void)pthread_atfork(strata__fork_prepare, strata__fork_parent, strata__fork_child);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
