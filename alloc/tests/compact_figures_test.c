/* What the COMPACT layout promises: no cliff, and memory that goes back by itself. */
#include "support.h"

#include <stdlib.h>
#include <string.h>

#define ARRAYS 500000
#define KEEP_EVERY 4000

static void one_mib_strings(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
    for (size_t i = 0; i < 32; i++) {
        assert_non_null(strata_alloc(heap, test_str_repeat_bytes(MIB)));
    }
    struct strata_heap_stats stats = test_stats(heap);
    assert_true(stats.real_bytes * 100 <= 32 * MIB * 102);
    strata_heap_delete(heap);
}

static void no_cliff_at_any_size(void **state)
{
    (void)state;
    for (size_t bytes = PAGE; bytes <= 8 * MIB; bytes += PAGE) {
        struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
        for (size_t i = 0; i < 32; i++) {
            assert_non_null(strata_alloc(heap, bytes));
        }
        struct strata_heap_stats stats = test_stats(heap);
        assert_int_equal(stats.used_bytes, 32 * bytes);
        assert_true(stats.real_bytes * 100 <= stats.used_bytes * 110);
        strata_heap_delete(heap);
    }
}

static void sixty_two_under_64_mib(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 64 * MIB);
    size_t count = 0;
    while (strata_alloc(heap, test_str_repeat_bytes(MIB)) != NULL) {
        count++;
    }
    assert_true(count >= 62);
    assert_true(test_stats(heap).real_bytes <= 64 * MIB);
    strata_heap_delete(heap);
}

struct array {
    void *header;   /* a PHP array of one element: 56 bytes ... */
    void *elements; /* ... and 320 for its table */
};

static struct array *arrays;

static void make_arrays(struct strata_heap *heap, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        arrays[i].header = strata_alloc(heap, 56);
        arrays[i].elements = strata_alloc(heap, 320);
        memset(arrays[i].header, 1, 56);
        memset(arrays[i].elements, 1, 320);
    }
}

static void free_array(struct strata_heap *heap, size_t i)
{
    strata_free(heap, arrays[i].header);
    strata_free(heap, arrays[i].elements);
    arrays[i] = (struct array){0};
}

/* Freed in the order of making, backwards, and at random. */
static void all_freed(void **state)
{
    (void)state;
    for (int order = 0; order < 3; order++) {
        struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
        make_arrays(heap, ARRAYS);
        uint64_t random = 5;
        for (size_t i = ARRAYS; order == 2 && i > 1; i--) {
            size_t other = test_random(&random) % i;
            struct array swapped = arrays[other];
            arrays[other] = arrays[i - 1];
            arrays[i - 1] = swapped;
        }
        for (size_t i = 0; i < ARRAYS; i++) {
            free_array(heap, order == 1 ? ARRAYS - 1 - i : i);
        }
        assert_int_equal(test_stats(heap).used_bytes, 0);
        assert_true(test_stats(heap).real_bytes <= CHUNK);
        strata_heap_delete(heap);
    }
}

static size_t count_pages_of_survivors(void)
{
    size_t pages = 0;
    uintptr_t last_header = 0;
    uintptr_t last_elements = 0;
    for (size_t i = 0; i < ARRAYS; i++) {
        if (arrays[i].header != NULL) {
            pages += (uintptr_t)arrays[i].header / PAGE != last_header;
            pages += (uintptr_t)arrays[i].elements / PAGE != last_elements;
            last_header = (uintptr_t)arrays[i].header / PAGE;
            last_elements = (uintptr_t)arrays[i].elements / PAGE;
        }
    }
    return pages;
}

static void one_survivor_in_4000(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
    size_t resident_before = test_resident_bytes();
    make_arrays(heap, ARRAYS);
    for (size_t i = 0; i < ARRAYS; i++) {
        if (i % KEEP_EVERY != 0) {
            free_array(heap, i);
        }
    }
    size_t pages = count_pages_of_survivors();
    assert_int_equal(pages, 2 * ARRAYS / KEEP_EVERY);
    assert_true(test_stats(heap).real_bytes * 10 <= pages * PAGE * 13);
    if (test_resident_is_ours()) {
        assert_true((test_resident_bytes() - resident_before) * 10 <= pages * PAGE * 13);
    }
    strata_heap_delete(heap);
}

/* A loop that makes and frees the same blocks keeps its pages: no purchase, no purge. */
static void churn_keeps_its_pages(void **state)
{
    (void)state;
    test_os_install(0, 0);
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
    for (int i = 0; i < 2000; i++) {
        void *buffer = strata_alloc(heap, 100 * PAGE);
        void *small[100];
        for (size_t n = 0; n < 100; n++) {
            small[n] = strata_alloc(heap, 100 + n);
        }
        strata_free(heap, buffer);
        for (size_t n = 0; n < 100; n++) {
            strata_free(heap, small[n]);
        }
    }
    assert_true(test_os.purges < 10);
    strata_heap_delete(heap);
    test_os_remove();
}

/* End of request keeps the halving average of the peaks, and resident memory follows. */
static void halving_average(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
    char *block = strata_alloc(heap, 64 * MIB);
    memset(block, 1, 64 * MIB);
    size_t last = test_stats(heap).real_bytes;
    for (int i = 0; i < 5; i++) {
        strata_heap_end_request(heap);
        size_t real = test_stats(heap).real_bytes;
        assert_in_range(real, last * 2 / 5, last * 3 / 5 + CHUNK);
        last = real;
    }
    strata_heap_delete(heap);
}

/* trim gives all back that holds no block, and says how much. */
static void trim(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
    size_t start = test_stats(heap).real_bytes;
    void *blocks[1000];
    for (size_t i = 0; i < 1000; i++) {
        blocks[i] = strata_alloc(heap, 64 + i);
    }
    void *kept = strata_alloc(heap, 40);
    for (size_t i = 0; i < 1000; i++) {
        strata_free(heap, blocks[i]);
    }
    size_t before = test_stats(heap).real_bytes;
    size_t trimmed = strata_heap_trim(heap);
    assert_int_equal(before - test_stats(heap).real_bytes, trimmed);
    assert_in_range(test_stats(heap).real_bytes, start + PAGE, start + 2 * PAGE);
    assert_int_equal(test_stats(heap).free_bytes, 0);
    strata_free(heap, kept);
    assert_int_equal(test_stats(heap).used_bytes, 0);
    strata_heap_delete(heap);
}

static void r_purchases_never_fall(void **state)
{
    (void)state;
    struct strata_heap *heap = test_heap(STRATA_LAYOUT_COMPACT, 0);
    uint64_t bought = test_stats(heap).chunk_purchases;
    for (size_t round = 0; round < 3; round++) {
        void *block = strata_alloc(heap, 32 * MIB);
        assert_non_null(block);
        uint64_t now = test_stats(heap).chunk_purchases;
        assert_in_range(now - bought, 16, 17);
        bought = now;
        strata_free(heap, block);
        strata_heap_trim(heap);
        assert_int_equal(test_stats(heap).chunk_purchases, bought);
    }
    strata_heap_end_request(heap);
    assert_int_equal(test_stats(heap).chunk_purchases, bought);
    strata_heap_delete(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_mib_strings),
        cmocka_unit_test(no_cliff_at_any_size),
        cmocka_unit_test(sixty_two_under_64_mib),
        cmocka_unit_test(all_freed),
        cmocka_unit_test(one_survivor_in_4000),
        cmocka_unit_test(churn_keeps_its_pages),
        cmocka_unit_test(halving_average),
        cmocka_unit_test(trim),
        cmocka_unit_test(r_purchases_never_fall),
    };
    arrays = calloc(ARRAYS, sizeof(arrays[0]));
    if (arrays == NULL) {
        return 1;
    }
    memset(
        arrays, 1, ARRAYS * sizeof(arrays[0])); /* resident before anything is measured */
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    free(arrays);
    return failed;
}
