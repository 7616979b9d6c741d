/* The system gives no memory: for every n the nth request for memory fails, once and from
 * then on, until a run passes without a failure. After each the figures must be right,
 * the blocks whole, and nothing leaked. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "heap_common.h"

#define BLOCKS 64

static const enum strata_layout layouts[] = {STRATA_LAYOUT_COMPACT, STRATA_LAYOUT_ZEND};

struct block {
    unsigned char *start;
    size_t bytes;
};

static size_t size_of_step(size_t step)
{
    const size_t sizes[] = {40, 3000, 9000, 700000, MIB, 3 * MIB, 5 * MIB, 24};
    return sizes[step % (sizeof(sizes) / sizeof(sizes[0]))] + step;
}

static void mark(struct block *block, size_t bytes)
{
    block->bytes = bytes;
    block->start[0] = (unsigned char)bytes;
    block->start[bytes - 1] = (unsigned char)bytes;
}

static void check_mark(const struct block *block)
{
    assert_int_equal(block->start[0], (unsigned char)block->bytes);
    assert_int_equal(block->start[block->bytes - 1], (unsigned char)block->bytes);
}

/* One step that needs memory; a failure has to change no figure but the peaks. */
static void step(struct strata_heap *heap, struct block *block, size_t number)
{
    struct strata_heap_stats before = test_stats(heap);
    unsigned long failures = test_os.failures;
    size_t bytes = size_of_step(number);
    errno = 0;
    unsigned char *start = number % 5 == 3 && block->start == NULL
                               ? strata_alloc_aligned(heap, 16 * PAGE, bytes)
                               : strata_realloc(heap, block->start, bytes);
    heap->layout->check(heap);
    if (start == NULL) {
        assert_true(test_os.failures > failures);
        assert_int_equal(errno, ENOMEM);
        assert_int_equal(test_stats(heap).used_bytes, before.used_bytes);
        assert_int_equal(test_stats(heap).huge_blocks, before.huge_blocks);
        if (block->start != NULL) {
            check_mark(block);
        }
        return;
    }
    block->start = start;
    mark(block, bytes);
}

static void run(struct strata_heap *heap)
{
    struct block blocks[BLOCKS] = {{0}};
    for (size_t i = 0; i < BLOCKS; i++) {
        step(heap, &blocks[i], i);
    }
    for (size_t i = 0; i < BLOCKS; i += 2) {
        step(heap, &blocks[i], i + 3);
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i].start != NULL) {
            check_mark(&blocks[i]);
            strata_free(heap, blocks[i].start);
        }
        heap->layout->check(heap);
    }
    assert_int_equal(test_stats(heap).used_bytes, 0);
    strata_heap_end_request(heap);
    heap->layout->check(heap);
}

static void every_call_fails_once(int and_all_after)
{
    for (size_t i = 0; i < 2; i++) {
        unsigned long n = 1;
        do {
            test_os_install(n, and_all_after);
            struct strata_heap_options options = {
                .struct_bytes = sizeof(options), .layout = layouts[i]};
            errno = 0;
            struct strata_heap *heap = strata_heap_new(&options);
            if (heap == NULL) {
                assert_int_equal(errno, ENOMEM);
                assert_true(test_os.failures > 0);
            } else {
                run(heap);
                strata_heap_delete(heap);
            }
            assert_int_equal(test_os.mapped_bytes, 0);
            n++;
        } while (test_os.failures > 0);
        assert_true(n > 10);
        test_os_remove();
    }
}

static void nth_call_fails(void **state)
{
    (void)state;
    every_call_fails_once(0);
}

static void nth_call_and_all_after_fail(void **state)
{
    (void)state;
    every_call_fails_once(1);
}

struct seen {
    enum strata_error_kind kind;
};

static void note(void *context, const struct strata_heap_error *error)
{
    ((struct seen *)context)->kind = error->kind;
}

static void the_callback_says_system(void **state)
{
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        struct seen seen = {0};
        struct strata_heap_options options = {.struct_bytes = sizeof(options),
            .layout = layouts[i],
            .on_error = note,
            .on_error_context = &seen};
        test_os_install(0, 0);
        struct strata_heap *heap = strata_heap_new(&options);
        test_os.fail_at = test_os.calls + 1;
        test_os.fail_after = 1;
        assert_null(strata_alloc(heap, 60 * MIB));
        assert_int_equal(seen.kind, STRATA_ERROR_SYSTEM);
        strata_heap_delete(heap);
        test_os_remove();
    }
}

/* An address range that is used up is a failure like any other. */
static void range_used_up(void **state)
{
    (void)state;
    struct seen seen = {0};
    struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .on_error = note,
        .on_error_context = &seen,
        .reserve_bytes = 64 * MIB};
    struct strata_heap *heap = strata_heap_new(&options);
    assert_null(strata_alloc(heap, 64 * MIB));
    assert_int_equal(seen.kind, STRATA_ERROR_SYSTEM);
    void *block = strata_alloc(heap, 63 * MIB);
    assert_non_null(block);
    assert_null(strata_realloc(heap, block, 65 * MIB));
    assert_null(strata_alloc(heap, MIB));
    strata_free(heap, block);
    assert_non_null(strata_alloc(heap, 63 * MIB));
    strata_heap_delete(heap);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nth_call_fails),
        cmocka_unit_test(nth_call_and_all_after_fail),
        cmocka_unit_test(the_callback_says_system),
        cmocka_unit_test(range_used_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
