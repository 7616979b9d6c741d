/* The malloc replacement behind its names: what the parts promise each other and glibc's
 * semantics, each case from the outside. */
#include "support.h"

#include <errno.h>
#include <string.h>

#include "blockclass.h"
#include "central.h"
#include "central_sweep.h"
#include "decay.h"
#include "front.h"
#include "front_figures.h"
#include "front_support.h"
#include "large.h"
#include "large_books.h"
#include "limit.h"
#include "percpu.h"
#include "units.h"

#define UNIT STRATA__UNIT_BYTES

static void sizes_and_alignment(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 200000; bytes += bytes < 2000 ? 1 : 997) {
        unsigned char *block = strata__front_alloc(bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % (bytes > 8 ? 16 : 8), 0);
        size_t usable = strata__front_usable(block);
        assert_true(usable >= bytes);
        memset(block, 0xa5, usable);
        strata__front_free(block);
    }
    for (size_t alignment = 8; alignment <= 64 * MIB; alignment *= 2) {
        for (size_t bytes = 1; bytes < 300000; bytes = bytes * 3 + 1) {
            unsigned char *block = strata__front_aligned(alignment, bytes);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % alignment, 0);
            memset(block, 1, bytes);
            strata__front_free(block);
        }
    }
    assert_int_equal(test_front_stats().in_use_blocks, 0);
}

static void impossible_sizes(void **state)
{
    (void)state;
    const size_t sizes[] = {
        SIZE_MAX, SIZE_MAX - 4095, (size_t)PTRDIFF_MAX + 1, PTRDIFF_MAX, (size_t)1 << 46};
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        errno = 0;
        assert_null(strata__front_alloc(sizes[i]));
        assert_int_equal(errno, ENOMEM);
        char *block = strata__front_alloc(10);
        block[9] = 'x';
        assert_null(strata__front_realloc(block, sizes[i]));
        assert_int_equal(block[9], 'x');
        strata__front_free(block);
    }
    errno = 0;
    assert_null(strata__front_calloc(SIZE_MAX / 2, 3));
    assert_int_equal(errno, ENOMEM);
    assert_null(strata__front_aligned((size_t)1 << 62, 1));
}

static void calloc_is_zeroed_and_errno_kept(void **state)
{
    (void)state;
    const size_t sizes[] = {8, 100, 5000, 32768, 40000, 300000, 3 * MIB};
    errno = 77;
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
            unsigned char *block = strata__front_calloc(1, sizes[i]);
            for (size_t at = 0; at < sizes[i]; at++) {
                assert_int_equal(block[at], 0);
            }
            memset(block, 0xff, strata__front_usable(block));
            strata__front_free(block);
        }
    }
    assert_int_equal(errno, 77);
}

static void realloc_keeps_the_bytes(void **state)
{
    (void)state;
    size_t bytes = 1;
    unsigned char *block = strata__front_realloc(NULL, bytes);
    block[0] = 1;
    while (bytes < 80 * MIB) {
        size_t next = bytes + bytes / 2 + 1;
        block = strata__front_realloc(block, next);
        assert_non_null(block);
        assert_int_equal(block[0], 1);
        assert_int_equal(block[bytes - 1], 1);
        block[next - 1] = 1;
        bytes = next;
    }
    while (bytes > 1) {
        bytes = bytes / 3 + 1;
        bytes = bytes == 2 ? 1 : bytes;
        block[bytes - 1] = 2;
        block = strata__front_realloc(block, bytes);
        assert_int_equal(block[bytes - 1], 2);
    }
    assert_null(strata__front_realloc(block, 0));
    assert_int_equal(test_front_stats().in_use_blocks, 0);
}

static void large_blocks_grow_in_place(void **state)
{
    (void)state;
    char *block = strata__front_alloc(5 * UNIT);
    /* Where a block begins depends on what others have left; what it leaves is behind it. */
    assert_ptr_equal(strata__front_realloc(block, 40000), block);
    assert_int_equal(strata__front_usable(block), 10 * PAGE);
    assert_ptr_equal(strata__front_realloc(block, 60000), block);
    assert_ptr_equal(strata__front_realloc(block, 5 * UNIT), block);
    assert_int_equal(strata__front_usable(block), 5 * UNIT);
    assert_ptr_equal(strata__front_realloc(block, 40000), block);
    assert_int_equal(strata__front_usable(block), 10 * PAGE);
    assert_int_equal(test_front_stats().in_use_bytes, 10 * PAGE);
    strata__front_free(block);
}

/* 8-byte blocks cost next to nothing, and the pages between survivors go back. */
static void survivors_keep_their_pages_only(void **state)
{
    (void)state;
    enum { BLOCKS = 1000000 };
    static char *blocks[BLOCKS];
    memset(blocks, 1, sizeof(blocks)); /* resident before it counts */
    strata__front_trim();
    size_t before = test_resident_bytes();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = strata__front_alloc(8);
        *blocks[i] = 1;
    }
    size_t grown = test_resident_bytes() - before;
    if (test_resident_is_ours()) {
        assert_in_range(grown, 8 * BLOCKS, 8 * BLOCKS * 106 / 100 + 64 * PAGE);
    }
    size_t pages = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        if (i % 4096 != 0) {
            strata__front_free(blocks[i]);
        } else {
            pages++;
        }
    }
    strata__front_trim();
    struct strata__front_stats stats = test_front_stats();
    assert_int_equal(stats.in_use_blocks, pages);
    assert_int_equal(stats.resident_bytes, pages * PAGE);
    if (test_resident_is_ours()) {
        assert_in_range(test_resident_bytes() - before, 0, (pages + 128) * PAGE);
    }
    for (size_t i = 0; i < BLOCKS; i += 4096) {
        assert_int_equal(*blocks[i], 1);
        strata__front_free(blocks[i]);
    }
    strata__front_trim();
    assert_int_equal(test_front_stats().resident_bytes, 0);
}

/* What is freed is gone after a few looks, wherever it waited; what is live stays. */
static void looks_give_everything_back(void **state)
{
    (void)state;
    static char *blocks[20000];
    for (size_t i = 0; i < 20000; i++) {
        blocks[i] = strata__front_alloc(i % 50 == 0 ? 50000 : i % 2000);
    }
    for (size_t i = 1; i < 20000; i++) {
        strata__front_free(blocks[i]);
    }
    assert_true(test_front_stats().free_bytes > 0);
    for (int i = 0; i < 5; i++) {
        strata__decay_step();
    }
    struct strata__front_stats stats = test_front_stats();
    assert_int_equal(stats.in_use_blocks, 1);
    assert_int_equal(stats.resident_bytes, 13 * PAGE); /* 50,000 bytes */
    strata__front_free(blocks[0]);
    strata__front_trim();
}

/* A page goes only when two sweeps in a row found it free. */
static void sweep_waits_for_the_second_look(void **state)
{
    (void)state;
    void *blocks[16];
    unsigned class = strata__block_class_of(4096);
    test_start_class(class);
    assert_int_equal(strata__central_refill(class, blocks, 16), 16);
    strata__central_flush(class, blocks + 1, 15);
    assert_int_equal(strata__central_sweep(0), 0);
    void *again = NULL;
    assert_int_equal(strata__central_refill(class, &again, 1), 1);
    assert_ptr_equal(again, blocks[1]);
    strata__central_flush(class, &again, 1);
    assert_int_equal(strata__central_sweep(0), 14 * PAGE);
    assert_int_equal(strata__central_sweep(0), PAGE);
    strata__central_flush(class, blocks, 1);
    strata__front_check();
}

static void the_fullest_slab_is_refilled_first(void **state)
{
    (void)state;
    void *first[16];
    void *second[16];
    unsigned class = strata__block_class_of(4096);
    test_start_class(class);
    assert_int_equal(strata__central_refill(class, first, 16), 16);
    assert_int_equal(strata__central_refill(class, second, 16), 16);
    strata__central_flush(class, first, 12);
    strata__central_flush(class, second + 3, 2);
    void *next = NULL;
    assert_int_equal(strata__central_refill(class, &next, 1), 1);
    assert_ptr_equal(next, second[3]);
    strata__central_flush(class, &next, 1);
    strata__central_flush(class, first + 12, 4);
    strata__central_flush(class, second, 3);
    strata__central_flush(class, second + 5, 11);
    strata__front_check();
}

/* What lies behind a live large block goes back at the second look. */
static void tails_wait_for_the_second_look(void **state)
{
    (void)state;
    strata__front_trim();
    char *block = strata__front_alloc(UNIT);
    memset(block, 1, UNIT);
    strata__front_free(block);
    assert_ptr_equal(strata__front_alloc(10 * PAGE), block);
    assert_int_equal(test_front_stats().resident_bytes, UNIT);
    assert_int_equal(strata__large_sweep(0), 0);
    assert_int_equal(strata__large_sweep(0), 6 * PAGE);
    assert_int_equal(test_front_stats().resident_bytes, 10 * PAGE);
    assert_int_equal(block[10 * PAGE - 1], 1);
    strata__front_free(block);
    strata__front_trim();
}

static void cpus_keep_blocks_and_give_them_up(void **state)
{
    (void)state;
    if (!STRATA__RSEQ || strata__percpu_offset == 0) {
        return; /* glibc before 2.35 or a sanitizer: nothing is kept, and nothing to test */
    }
    unsigned class = strata__block_class_of(48);
    void *block = strata__front_alloc(48);
    assert_true(strata__percpu_blocks(class) > 0);
    strata__front_free(block);
    assert_ptr_equal(strata__front_alloc(48), block);
    strata__front_free(block);
    assert_true(strata__percpu_drain(1) > 0);
    assert_int_equal(strata__percpu_blocks(class), 0);
    assert_int_equal(test_front_stats().cached_bytes, 0);
    /* The tables come back after a drain. */
    strata__front_free(strata__front_alloc(48));
    assert_true(strata__percpu_blocks(class) > 0);
    /* A drain of idle CPUs waits for the second look. */
    strata__percpu_drain(0);
    assert_true(strata__percpu_blocks(class) > 0);
    strata__percpu_drain(0);
    assert_int_equal(strata__percpu_blocks(class), 0);
}

static void use_much(void *blocks[], size_t count)
{
    for (size_t i = 0; i < count; i++) {
        blocks[i] = strata__front_alloc(32 * MIB);
        assert_non_null(blocks[i]);
    }
    strata__decay_step();
}

/* Address space is enough: no page of it is touched. */
static void cpus_keep_more_while_much_is_in_use(void **state)
{
    (void)state;
    void *much[8];
    void *blocks[4];
    if (!STRATA__RSEQ || strata__percpu_offset == 0) {
        return;
    }
    strata__front_free(strata__front_alloc(48)); /* there is a table */
    unsigned class = STRATA__WIDE_CLASS - 1;
    for (int round = 0; round < 2; round++) {
        use_much(much, 8);
        for (size_t i = 0; i < 4; i++) {
            blocks[i] = strata__front_alloc(32768);
        }
        for (size_t i = 0; i < 4; i++) {
            strata__front_free(blocks[i]);
        }
        assert_int_equal(strata__percpu_blocks(class), 4);
        /* They go at the first look after they are too many, not at the second. */
        for (size_t i = 0; i < 8; i++) {
            strata__front_free(much[i]);
        }
        assert_int_equal(strata__percpu_blocks(class), 4);
        strata__decay_step();
        assert_int_equal(strata__percpu_blocks(class), 0);
        for (size_t i = 0; i < 4; i++) {
            blocks[i] = strata__front_alloc(32768);
        }
        for (size_t i = 0; i < 4; i++) {
            strata__front_free(blocks[i]);
        }
        assert_in_range(strata__percpu_blocks(class), 1, 2);
        strata__front_trim();
    }
    assert_int_equal(test_front_stats().in_use_blocks, 0);
}

static void wide_blocks_are_of_classes_while_much_is_in_use(void **state)
{
    (void)state;
    void *much[8];
    if (!STRATA__RSEQ || strata__percpu_offset == 0) {
        return;
    }
    strata__front_free(strata__front_alloc(48));
    unsigned char *before = strata__front_alloc(33000);
    assert_int_equal(strata__front_usable(before), 9 * PAGE);
    use_much(much, 8);
    unsigned char *block = strata__front_alloc(33000);
    assert_int_equal(strata__front_usable(block), 10 * PAGE);
    memset(block, 7, 10 * PAGE);
    assert_int_equal(test_front_stats().in_use_blocks, 10);
    assert_ptr_equal(strata__front_realloc(block, 10 * PAGE), block);
    block = strata__front_realloc(block, 16 * PAGE);
    assert_int_equal(strata__front_usable(block), 16 * PAGE);
    assert_int_equal(block[10 * PAGE - 1], 7);
    strata__front_free(block);
    assert_int_equal(strata__percpu_blocks(STRATA__BLOCK_CLASSES - 1), 1);
    assert_ptr_equal(strata__front_alloc(16 * PAGE), block);
    block = strata__front_realloc(block, 100 * PAGE);
    assert_int_equal(strata__front_usable(block), 100 * PAGE);
    assert_int_equal(block[10 * PAGE - 1], 7);
    strata__front_free(block);
    /* Under a limit each byte that rounding takes is one that cannot be had. */
    strata__limit_set((size_t)1 << 40, 0);
    strata__decay_step();
    block = strata__front_alloc(33000);
    assert_int_equal(strata__front_usable(block), 9 * PAGE);
    strata__front_free(block);
    strata__limit_set(0, 0);
    strata__front_free(before);
    for (size_t i = 0; i < 8; i++) {
        strata__front_free(much[i]);
    }
    strata__front_trim();
    /* Nobody else has taken the room: pages again. */
    before = strata__front_alloc(33000);
    assert_int_equal(strata__front_usable(before), 9 * PAGE);
    strata__front_free(before);
    strata__front_trim();
    assert_int_equal(test_front_stats().in_use_blocks, 0);
}

/* Of a unit that was warm all over, a block takes ten pages. */
static void tails_of_full_slabs_wait_for_the_second_look(void **state)
{
    (void)state;
    void *block = NULL;
    strata__front_trim();
    strata__front_free(strata__front_alloc(UNIT));
    assert_int_equal(strata__central_refill(STRATA__WIDE_CLASS, &block, 1), 1);
    memset(block, 1, 10 * PAGE);
    assert_int_equal(test_front_stats().resident_bytes, UNIT);
    assert_int_equal(strata__central_sweep(0), 0);
    assert_int_equal(strata__central_sweep(0), 6 * PAGE);
    assert_int_equal(test_front_stats().resident_bytes, 10 * PAGE);
    assert_int_equal(((unsigned char *)block)[10 * PAGE - 1], 1);
    strata__central_flush(STRATA__WIDE_CLASS, &block, 1);
    strata__front_trim();
    assert_int_equal(test_front_stats().resident_bytes, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_and_alignment),
        cmocka_unit_test(impossible_sizes),
        cmocka_unit_test(calloc_is_zeroed_and_errno_kept),
        cmocka_unit_test(realloc_keeps_the_bytes),
        cmocka_unit_test(large_blocks_grow_in_place),
        cmocka_unit_test(survivors_keep_their_pages_only),
        cmocka_unit_test(looks_give_everything_back),
        cmocka_unit_test(sweep_waits_for_the_second_look),
        cmocka_unit_test(the_fullest_slab_is_refilled_first),
        cmocka_unit_test(tails_wait_for_the_second_look),
        cmocka_unit_test(tails_of_full_slabs_wait_for_the_second_look),
        cmocka_unit_test(cpus_keep_blocks_and_give_them_up),
        cmocka_unit_test(cpus_keep_more_while_much_is_in_use),
        cmocka_unit_test(wide_blocks_are_of_classes_while_much_is_in_use),
    };
    return test_front_run(tests, sizeof(tests) / sizeof(tests[0]));
}
