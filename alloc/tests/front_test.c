/* The malloc replacement behind its names: what the parts promise each other and glibc's
 * semantics, each case from the outside. */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blockclass.h"
#include "central.h"
#include "central_sweep.h"
#include "decay.h"
#include "front.h"
#include "large.h"
#include "limit.h"
#include "metadata.h"
#include "os.h"
#include "percpu.h"
#include "units.h"

#define UNIT STRATA__UNIT_BYTES

static struct strata__front_stats front_stats(void)
{
    struct strata__front_stats stats;
    strata__front_check();
    strata__front_get_stats(&stats);
    /* What is compared with a limit is what is shown. */
    assert_int_equal(strata__limit_held(), stats.resident_bytes + stats.metadata_bytes);
    return stats;
}

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
    assert_int_equal(front_stats().in_use_blocks, 0);
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
    assert_int_equal(front_stats().in_use_blocks, 0);
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
    assert_int_equal(front_stats().in_use_bytes, 10 * PAGE);
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
    struct strata__front_stats stats = front_stats();
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
    assert_int_equal(front_stats().resident_bytes, 0);
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
    assert_true(front_stats().free_bytes > 0);
    for (int i = 0; i < 5; i++) {
        strata__decay_step();
    }
    struct strata__front_stats stats = front_stats();
    assert_int_equal(stats.in_use_blocks, 1);
    assert_int_equal(stats.resident_bytes, 13 * PAGE); /* 50,000 bytes */
    strata__front_free(blocks[0]);
    strata__front_trim();
}

/* From now on the class has slabs. */
static void start_class(unsigned class)
{
    for (int i = 0; i < 4; i++) {
        void *blocks[16];
        size_t got = strata__central_refill(class, blocks, 16);
        strata__central_flush(class, blocks, got);
    }
    strata__central_sweep(1);
}

/* A page goes only when two sweeps in a row found it free. */
static void sweep_waits_for_the_second_look(void **state)
{
    (void)state;
    void *blocks[16];
    unsigned class = strata__block_class_of(4096);
    start_class(class);
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
    start_class(class);
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

/* As whoever owns a unit does: pages that are marked are bought. */
static void mark_touched(const char *unit, uint16_t mask)
{
    uint16_t *touched = strata__unitmap_touched(unit);
    strata__limit_return((size_t)__builtin_popcount(*touched) * PAGE);
    assert_int_equal(strata__limit_buy((size_t)__builtin_popcount(mask) * PAGE), 0);
    *touched = mask;
}

static void give_units(char *start, size_t units)
{
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    assert_non_null(span);
    strata__units_give(span, start, units);
}

static void units_coalesce_and_split(void **state)
{
    (void)state;
    struct strata__units_stats before;
    struct strata__units_stats after;
    strata__front_trim();
    strata__units_get_stats(&before);
    char *three = strata__units_take(4, 1);
    char *aligned = strata__units_take(2, 64);
    assert_int_equal((uintptr_t)aligned % (64 * UNIT), 0);
    give_units(three + 3 * UNIT, 1);
    assert_int_equal(strata__units_extend(three, 3, 1), 0);
    mark_touched(three + UNIT, 0x0ff0);
    give_units(three, 4);
    strata__units_get_stats(&after);
    assert_int_equal(after.dirty_bytes, 8 * PAGE);
    strata__units_check();
    give_units(aligned, 2);
    /* A clean span that joins a dirty one is dirty, on either side. */
    char *four = strata__units_take(4, 1);
    for (size_t i = 0; i < 4; i++) {
        mark_touched(four + i * UNIT, 0);
    }
    mark_touched(four + 2 * UNIT, 0x00ff);
    give_units(four + 2 * UNIT, 1);
    give_units(four + UNIT, 1);
    strata__units_check();
    give_units(four + 3 * UNIT, 1);
    give_units(four, 1);
    strata__units_check();
    assert_int_equal(strata__units_purge(UINT32_MAX, 0), 8 * PAGE);
    strata__units_check();
    strata__units_get_stats(&after);
    assert_int_equal(
        after.free_bytes - before.free_bytes, after.mapped_bytes - before.mapped_bytes);
    assert_int_equal(after.dirty_bytes, 0);
}

/* Free pages stay warm up to the recent peak of use and a quarter; the peak is forgotten
 * after two epochs. */
static void warm_memory_follows_the_recent_peak(void **state)
{
    (void)state;
    enum { UNITS = 160 };
    struct strata__units_stats stats;
    strata__front_trim();
    strata__units_set_epoch(100);
    strata__units_set_epoch(101);
    char *start = strata__units_take(UNITS, 1);
    for (size_t i = 0; i < UNITS; i++) {
        mark_touched(start + i * UNIT, 0xffff);
    }
    give_units(start, UNITS);
    strata__units_keep_within_bounds();
    strata__units_get_stats(&stats);
    assert_int_equal(stats.dirty_bytes, UNITS * UNIT);
    strata__units_set_epoch(102);
    strata__units_keep_within_bounds();
    strata__units_get_stats(&stats);
    assert_int_equal(stats.dirty_bytes, UNITS * UNIT);
    strata__units_set_epoch(103);
    strata__units_keep_within_bounds();
    strata__units_get_stats(&stats);
    assert_in_range(stats.dirty_bytes, 3 * MIB / 16, MIB);
    strata__units_check();
    strata__front_trim();
    strata__decay_step(); /* looks go on from their own epoch */
}

/* Of a span that is resident at its high end only, that end is used first. */
static void the_warm_end_is_used_first(void **state)
{
    (void)state;
    strata__front_trim();
    char *three = strata__units_take(4, 1);
    char *guard = three + 3 * UNIT; /* what lies behind is not free */
    mark_touched(three + 2 * UNIT, 0xffff);
    give_units(three, 3);
    char *one = strata__units_take(1, 1);
    assert_ptr_equal(one, three + 2 * UNIT);
    give_units(one, 1);
    give_units(guard, 1);
    strata__units_check();
    strata__front_trim();
}

/* Mappings of descriptors go back at the second look once none of theirs is in use. */
static void descriptors_go_back(void **state)
{
    (void)state;
    enum { COUNT = 4000, BYTES = 1088 };
    static void *taken[COUNT];
    size_t before = strata__metadata_bytes();
    for (int round = 0; round < 2; round++) {
        for (size_t i = 0; i < COUNT; i++) {
            taken[i] = strata__metadata_take(BYTES);
            assert_non_null(taken[i]);
            memset(taken[i], 0xff, BYTES);
        }
        assert_true(strata__metadata_bytes() >= before + (size_t)COUNT * BYTES - MIB / 2);
        size_t resident = test_resident_bytes();
        strata__metadata_sweep(0); /* others may have gone */
        for (size_t i = 1; i < COUNT; i++) {
            strata__metadata_give(taken[i], BYTES);
        }
        assert_int_equal(strata__metadata_sweep(0), 0);
        assert_true(strata__metadata_sweep(0) >= (size_t)COUNT * BYTES - MIB);
        if (test_resident_is_ours()) {
            assert_in_range(test_resident_bytes(), 0, resident - 3 * MIB);
        }
        assert_int_equal(((unsigned char *)taken[0])[BYTES - 1], 0xff);
        strata__metadata_give(taken[0], BYTES);
        strata__metadata_sweep(1);
        assert_in_range(strata__metadata_bytes(), 0, before + MIB);
    }
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
    assert_int_equal(front_stats().resident_bytes, UNIT);
    assert_int_equal(strata__large_sweep(0), 0);
    assert_int_equal(strata__large_sweep(0), 6 * PAGE);
    assert_int_equal(front_stats().resident_bytes, 10 * PAGE);
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
    assert_int_equal(front_stats().cached_bytes, 0);
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
    assert_int_equal(front_stats().in_use_blocks, 0);
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
    assert_int_equal(front_stats().in_use_blocks, 10);
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
    assert_int_equal(front_stats().in_use_blocks, 0);
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
    assert_int_equal(front_stats().resident_bytes, UNIT);
    assert_int_equal(strata__central_sweep(0), 0);
    assert_int_equal(strata__central_sweep(0), 6 * PAGE);
    assert_int_equal(front_stats().resident_bytes, 10 * PAGE);
    assert_int_equal(((unsigned char *)block)[10 * PAGE - 1], 1);
    strata__central_flush(STRATA__WIDE_CLASS, &block, 1);
    strata__front_trim();
    assert_int_equal(front_stats().resident_bytes, 0);
}

static void expect_fatal(void (*misuse)(void), const char *what)
{
    int ends[2];
    char text[512] = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        dup2(ends[1], STDERR_FILENO);
        misuse();
        _exit(0);
    }
    close(ends[1]);
    ssize_t length = read(ends[0], text, sizeof(text) - 1);
    close(ends[0]);
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(length > 0 && WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_non_null(strstr(text, what));
}

/* The slab has to stay, else its address is nobody's. */
static void free_twice(void)
{
    char *stays = strata__front_alloc(100);
    char *block = strata__front_alloc(100);
    stays[0] = 1;
    strata__front_free(block);
    strata__front_free(block);
}

static void free_twice_later(void)
{
    char *blocks[1000];
    for (size_t i = 0; i < 1000; i++) {
        blocks[i] = strata__front_alloc(100);
    }
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 1; i < 1000; i += 2) {
            strata__front_free(blocks[i]);
        }
    }
}

static void free_inside(void)
{
    char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = strata__front_alloc(100);
    }
    for (size_t i = 0; i < 300; i++) {
        strata__front_free(blocks[i] + 16);
    }
}

static void free_inside_large(void)
{
    char *block = strata__front_alloc(MIB);
    strata__front_free(block + 2 * UNIT);
}

static void free_large_twice(void)
{
    char *block = strata__front_alloc(MIB);
    strata__front_free(block);
    strata__front_free(block);
}

/* Who gives a descriptor back can have a shorter one, although the system gives nothing:
 * so an empty slab can always become a free span. */
static void a_descriptor_given_is_a_descriptor_had(void **state)
{
    (void)state;
    void *longer = strata__metadata_take(STRATA__METADATA_MAX);
    assert_non_null(longer);
    test_os_install(1, 1);
    while (strata__metadata_take(64) != NULL) {
    }
    void *shorter = strata__metadata_exchange(longer, STRATA__METADATA_MAX, 64);
    test_os_remove();
    assert_ptr_equal(shorter, longer);
}

static void leave_quietly(void *block)
{
    (void)block;
    _exit(0);
}

/* Nothing in our own address space is ever taken for a block of the C library. */
static void free_large_twice_beside_libc(void)
{
    char *before = strata__front_alloc(MIB);
    char *block = strata__front_alloc(MIB);
    char *behind = strata__front_alloc(MIB);
    strata__front_foreign.release = leave_quietly;
    strata__front_free(before);
    strata__front_free(behind);
    strata__front_free(block); /* its unit lies inside of a free span now */
    strata__front_free(block);
}

static void free_stack(void)
{
    int variable = 0;
    strata__front_free(&variable);
}

static void misuse_is_fatal(void **state)
{
    (void)state;
    expect_fatal(free_twice, "double free");
    expect_fatal(free_twice_later, "double free");
    expect_fatal(free_inside, "not the start of a block");
    expect_fatal(free_inside_large, "not an allocated block");
    expect_fatal(free_large_twice, "not an allocated block");
    expect_fatal(free_large_twice_beside_libc, "not an allocated block");
    expect_fatal(free_stack, "not an allocated block");
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
        cmocka_unit_test(units_coalesce_and_split),
        cmocka_unit_test(warm_memory_follows_the_recent_peak),
        cmocka_unit_test(the_warm_end_is_used_first),
        cmocka_unit_test(descriptors_go_back),
        cmocka_unit_test(tails_wait_for_the_second_look),
        cmocka_unit_test(tails_of_full_slabs_wait_for_the_second_look),
        cmocka_unit_test(cpus_keep_blocks_and_give_them_up),
        cmocka_unit_test(cpus_keep_more_while_much_is_in_use),
        cmocka_unit_test(wide_blocks_are_of_classes_while_much_is_in_use),
        cmocka_unit_test(misuse_is_fatal),
        cmocka_unit_test(a_descriptor_given_is_a_descriptor_had),
    };
    test_stay_on_this_cpu();
    int failed = cmocka_run_group_tests_name("central lists only", tests, NULL, NULL);
    strata__percpu_start();
    if (strata__percpu_offset == 0) {
        return failed; /* no tables: the same again, on a heap that has a history */
    }
    return failed + cmocka_run_group_tests_name("with CPU tables", tests, NULL, NULL);
}
