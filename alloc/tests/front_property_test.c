/*
 * Random operations against a shadow model: each block is filled with a pattern of its
 * own, which must be there when it is resized or freed, so blocks that overlap are seen;
 * and the figures must equal the model's at every check. One thread, then many that hand
 * blocks to each other while tables are drained and pages swept. STRATA_TEST_SEED and
 * STRATA_TEST_OPS change the run.
 */
#include "support.h"

#include <pthread.h>
#include <string.h>

#include "blockclass.h"
#include "central_sweep.h"
#include "front.h"
#include "front_figures.h"
#include "percpu.h"
#include "units.h"

#define BLOCKS 2000
#define CHECK_EVERY 5000
#define THREADS 4
#define EXCHANGE 512

struct shadow {
    unsigned char *start;
    size_t bytes;
    unsigned char pattern;
};

static size_t random_bytes(uint64_t *random)
{
    uint64_t kind = test_random(random) % 100;
    if (kind < 70) {
        return test_random(random) % 300;
    }
    if (kind < 95) {
        return test_random(random) % 40000;
    }
    return kind < 99 ? test_random(random) % 400000 : test_random(random) % (3 * MIB);
}

/* Large blocks are marked at their ends and once in each page. */
static void fill(struct shadow *shadow, uint64_t *random)
{
    shadow->pattern = (unsigned char)(test_random(random) | 1);
    if (shadow->bytes <= PAGE) {
        memset(shadow->start, shadow->pattern, shadow->bytes);
        return;
    }
    for (size_t at = 0; at < shadow->bytes; at += PAGE) {
        shadow->start[at] = shadow->pattern;
    }
    shadow->start[shadow->bytes - 1] = shadow->pattern;
}

static void verify(const struct shadow *shadow, size_t bytes)
{
    if (shadow->bytes <= PAGE) {
        for (size_t at = 0; at < bytes; at++) {
            assert_int_equal(shadow->start[at], shadow->pattern);
        }
        return;
    }
    for (size_t at = 0; at < bytes; at += PAGE) {
        assert_int_equal(shadow->start[at], shadow->pattern);
    }
    if (bytes == shadow->bytes) {
        assert_int_equal(shadow->start[bytes - 1], shadow->pattern);
    }
}

static void allocate(struct shadow *shadow, uint64_t *random)
{
    shadow->bytes = random_bytes(random);
    switch (test_random(random) % 8) {
    case 0: {
        size_t alignment = (size_t)8 << test_random(random) % 14;
        shadow->start = strata__front_aligned(alignment, shadow->bytes);
        assert_int_equal((uintptr_t)shadow->start % alignment, 0);
        break;
    }
    case 1:
        shadow->start = strata__front_calloc(1, shadow->bytes);
        shadow->pattern = 0;
        verify(shadow, shadow->bytes);
        break;
    default:
        shadow->start = strata__front_alloc(shadow->bytes);
        break;
    }
    assert_non_null(shadow->start);
    fill(shadow, random);
}

static void resize(struct shadow *shadow, uint64_t *random)
{
    size_t bytes = random_bytes(random) + 1;
    unsigned char *moved = strata__front_realloc(shadow->start, bytes);
    assert_non_null(moved);
    shadow->start = moved;
    verify(shadow, bytes < shadow->bytes ? bytes : shadow->bytes);
    shadow->bytes = bytes;
    fill(shadow, random);
}

static void release(struct shadow *shadow)
{
    verify(shadow, shadow->bytes);
    strata__front_free(shadow->start);
    shadow->start = NULL;
}

static void operation(struct shadow *shadow, uint64_t *random)
{
    if (shadow->start == NULL) {
        allocate(shadow, random);
    } else if (test_random(random) % 4 == 0) {
        resize(shadow, random);
    } else {
        release(shadow);
    }
}

static void compare_figures(const struct shadow *shadows)
{
    struct strata__front_stats stats;
    size_t bytes = 0;
    size_t blocks = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        if (shadows[i].start != NULL) {
            bytes += strata__front_usable(shadows[i].start);
            blocks++;
        }
    }
    strata__front_check();
    strata__front_get_stats(&stats);
    assert_int_equal(stats.in_use_bytes, bytes);
    assert_int_equal(stats.in_use_blocks, blocks);
    assert_true(stats.free_bytes <= stats.resident_bytes);
}

static void one_thread(void **state)
{
    (void)state;
    static struct shadow shadows[BLOCKS];
    uint64_t random = test_setting("STRATA_TEST_SEED", 1) * 7919;
    unsigned long operations = test_setting("STRATA_TEST_OPS", 60000);
    for (unsigned long i = 1; i <= operations; i++) {
        operation(&shadows[test_random(&random) % BLOCKS], &random);
        if (i % CHECK_EVERY == 0) {
            compare_figures(shadows);
            strata__percpu_drain(0);
            strata__central_sweep(0);
            strata__units_purge(UINT32_MAX, (size_t)(test_random(&random) % MIB));
            compare_figures(shadows);
        }
        if (i % (10 * CHECK_EVERY) == 0) {
            strata__front_trim();
            compare_figures(shadows);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        if (shadows[i].start != NULL) {
            release(&shadows[i]);
        }
    }
    strata__front_trim();
    compare_figures(shadows);
    struct strata__front_stats stats;
    strata__front_get_stats(&stats);
    assert_int_equal(stats.resident_bytes, 0);
}

/* Where threads leave blocks for others. */
static struct {
    pthread_mutex_t lock;
    struct shadow blocks[EXCHANGE];
} exchange = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void swap(struct shadow *shadow, uint64_t *random)
{
    pthread_mutex_lock(&exchange.lock);
    struct shadow *other = &exchange.blocks[test_random(random) % EXCHANGE];
    struct shadow taken = *other;
    *other = *shadow;
    *shadow = taken;
    pthread_mutex_unlock(&exchange.lock);
}

static void *worker(void *argument)
{
    uint64_t random = (uint64_t)(uintptr_t)argument * 104729;
    unsigned long operations = test_setting("STRATA_TEST_OPS", 60000) / 2;
    struct shadow shadows[64] = {{0}};
    for (unsigned long i = 0; i < operations; i++) {
        struct shadow *shadow = &shadows[test_random(&random) % 64];
        operation(shadow, &random);
        if (test_random(&random) % 4 == 0) {
            swap(shadow, &random);
        }
        if (test_random(&random) % 2000 == 0) {
            strata__percpu_drain(1);
        }
        if (test_random(&random) % 500 == 0) {
            strata__central_sweep(1);
        }
    }
    for (size_t i = 0; i < 64; i++) {
        if (shadows[i].start != NULL) {
            release(&shadows[i]);
        }
    }
    return NULL;
}

static void many_threads(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    uintptr_t seed = test_setting("STRATA_TEST_SEED", 1) * 100;
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(
            pthread_create(&threads[i], NULL, worker, (void *)(seed + i + 1)), 0);
    }
    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_join(threads[i], NULL), 0);
    }
    for (size_t i = 0; i < EXCHANGE; i++) {
        if (exchange.blocks[i].start != NULL) {
            release(&exchange.blocks[i]);
        }
    }
    strata__front_trim();
    strata__front_check();
    struct strata__front_stats stats;
    strata__front_get_stats(&stats);
    assert_int_equal(stats.in_use_bytes, 0);
    assert_int_equal(stats.resident_bytes, 0);
}

static void *hammer(void *stop)
{
    while (!__atomic_load_n((int *)stop, __ATOMIC_RELAXED)) {
        uint64_t *blocks[8];
        for (size_t i = 0; i < 8; i++) {
            blocks[i] = strata__front_alloc(64);
            *blocks[i] = (uint64_t)(uintptr_t)&blocks[i];
        }
        for (size_t i = 0; i < 8; i++) {
            assert_int_equal(*blocks[i], (uintptr_t)&blocks[i]);
            strata__front_free(blocks[i]);
        }
    }
    return NULL;
}

/* A table is emptied under the feet of the sequences that use it: without the barrier a
 * block would be handed out twice, or come back twice. */
static void tables_are_drained_all_the_time(void **state)
{
    (void)state;
    pthread_t threads[2];
    int stop = 0;
    unsigned long drains = test_setting("STRATA_TEST_OPS", 60000) / 4;
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, hammer, &stop), 0);
    }
    for (unsigned long i = 0; i < drains; i++) {
        strata__percpu_drain(1);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    strata__front_trim();
    strata__front_check();
}

static int start_tables(void **state)
{
    (void)state;
    strata__percpu_start();
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_thread),
        cmocka_unit_test(many_threads),
        cmocka_unit_test(tables_are_drained_all_the_time),
    };
    int failed = cmocka_run_group_tests_name("central lists only", tests, NULL, NULL);
    return failed +
           cmocka_run_group_tests_name("with CPU tables", tests, start_tables, NULL);
}
