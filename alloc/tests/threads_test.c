/* One heap for each thread, and a heap that wanders from thread to thread.
 *
 * STRATA_TEST_OPS operations for each thread (100,000 if unset). */
#include "support.h"

#include <pthread.h>
#include <string.h>

#define THREADS 4
#define ROUNDS 20
#define BLOCKS 500

static void check(const unsigned char *block, size_t bytes, unsigned char mark)
{
    for (size_t n = 0; n < bytes; n += 97) {
        if (block[n] != mark) {
            fail();
        }
    }
}

static void work(struct strata_heap *heap, uint64_t seed)
{
    unsigned char *blocks[BLOCKS] = {NULL};
    size_t sizes[BLOCKS] = {0};
    size_t operations = test_setting("STRATA_TEST_OPS", 100000) / ROUNDS;
    for (size_t i = 0; i < operations; i++) {
        size_t at = test_random(&seed) % BLOCKS;
        if (blocks[at] != NULL) {
            check(blocks[at], sizes[at], (unsigned char)at);
            strata_free(heap, blocks[at]);
        }
        sizes[at] = 1 + test_random(&seed) % 2000;
        blocks[at] = strata_alloc(heap, sizes[at]);
        memset(blocks[at], (unsigned char)at, sizes[at]);
    }
    strata_heap_end_request(heap);
}

static void *own_heap(void *argument)
{
    uint64_t seed = (uint64_t)(uintptr_t)argument;
    struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .layout = seed % 2 == 0 ? STRATA_LAYOUT_COMPACT : STRATA_LAYOUT_ZEND};
    struct strata_heap *heap = strata_heap_new(&options);
    for (int round = 0; round < ROUNDS && heap != NULL; round++) {
        work(heap, seed + 1000);
    }
    struct strata_heap_stats stats = {.struct_bytes = sizeof(stats)};
    strata_heap_get_stats(heap, &stats);
    strata_heap_delete(heap);
    return stats.used_bytes == 0 ? argument : NULL;
}

static void heap_for_each_thread(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, own_heap, (void *)(i + 1)), 0);
    }
    for (uintptr_t i = 0; i < THREADS; i++) {
        void *result = NULL;
        assert_int_equal(pthread_join(threads[i], &result), 0);
        assert_ptr_equal(result, (void *)(i + 1));
    }
}

static void *borrow(void *heap)
{
    work(heap, 99);
    return heap;
}

static void heap_that_wanders(void **state)
{
    (void)state;
    for (int layout = 0; layout < 2; layout++) {
        struct strata_heap *heap = test_heap((enum strata_layout)layout, 0);
        for (int i = 0; i < 5; i++) {
            pthread_t thread;
            assert_int_equal(pthread_create(&thread, NULL, borrow, heap), 0);
            assert_int_equal(pthread_join(thread, NULL), 0);
            work(heap, 7);
        }
        assert_int_equal(test_stats(heap).used_bytes, 0);
        strata_heap_delete(heap);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heap_for_each_thread),
        cmocka_unit_test(heap_that_wanders),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
