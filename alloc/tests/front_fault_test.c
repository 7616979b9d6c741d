/* The system refuses: for every n the nth mmap, munmap, madvise or mremap of the malloc
 * replacement fails, once and from then on, until a run passes without a failure. After each the figures
 * must be right and the blocks whole, and all memory must come back. */
#include "support.h"

#include <errno.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "front.h"
#include "front_figures.h"
#include "hard.h"
#include "huge.h"
#include "kept.h"
#include "limit.h"
#include "percpu.h"

#define BLOCKS 300

struct block {
    unsigned char *start;
    size_t bytes;
};

static size_t size_of_step(size_t step)
{
    const size_t sizes[] = {
        8, 8, 40, 3000, 9000, 32768, 100000, 700000, MIB, 2 * MIB, 33 * MIB, 40 * MIB};
    return sizes[step % (sizeof(sizes) / sizeof(sizes[0]))];
}

static void step(struct block *block, size_t number)
{
    size_t bytes = size_of_step(number);
    unsigned long failures = test_os.failures;
    errno = 0;
    unsigned char *start = number % 7 == 3 && block->start == NULL
                               ? strata__front_aligned(1024 * 1024, bytes)
                               : strata__front_realloc(block->start, bytes);
    if (start == NULL) {
        assert_true(test_os.failures > failures);
        assert_int_equal(errno, ENOMEM);
        return;
    }
    block->start = start;
    block->bytes = bytes;
    start[0] = (unsigned char)bytes;
    start[bytes - 1] = (unsigned char)(bytes + 1);
}

static void run(void)
{
    static struct block blocks[BLOCKS];
    size_t live = 0;
    for (size_t i = 0; i < BLOCKS + BLOCKS / 2; i++) {
        step(&blocks[i % BLOCKS], i);
    }
    strata__front_check();
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i].start != NULL) {
            live += strata__front_usable(blocks[i].start);
        }
    }
    struct strata__front_stats stats;
    strata__front_get_stats(&stats);
    assert_int_equal(stats.in_use_bytes, live);
    assert_int_equal(strata__limit_held(), stats.resident_bytes + stats.metadata_bytes);
    strata__front_trim();
    strata__front_check();
    for (size_t i = 0; i < BLOCKS; i++) {
        if (blocks[i].start != NULL) {
            size_t bytes = blocks[i].bytes;
            assert_int_equal(blocks[i].start[0], (unsigned char)bytes);
            if (bytes > 1) {
                assert_int_equal(blocks[i].start[bytes - 1], (unsigned char)(bytes + 1));
            }
            strata__front_free(blocks[i].start);
        }
    }
    strata__front_trim();
    strata__front_check();
    strata__front_get_stats(&stats);
    assert_int_equal(stats.in_use_blocks, 0);
    /* Nothing is lost for ever: once the system works again, all goes back. */
    test_os_remove();
    strata__kept_retry();
    assert_int_equal(strata__kept_bytes(), 0);
    strata__front_trim();
    strata__front_check();
    strata__front_get_stats(&stats);
    assert_int_equal(stats.resident_bytes, 0);
    assert_int_equal(strata__limit_held(), stats.metadata_bytes);
}

static int (*linux_move)(void *, size_t, void *, size_t);

static int move_or_refuse(void *from, size_t old_bytes, void *to, size_t new_bytes)
{
    return test_os_refuses() ? -ENOMEM : linux_move(from, old_bytes, to, new_bytes);
}

static int refuse_to_move(void *from, size_t old_bytes, void *to, size_t new_bytes)
{
    (void)from;
    (void)old_bytes;
    (void)to;
    (void)new_bytes;
    test_os.failures++;
    return -ENOMEM;
}

enum way { CENTRAL_ONLY, WITH_CPU_TABLES, HARDENED };

/* In a child, since the heap keeps what it has got and the next run must start empty.
 * Exit code 2: no call was failed. */
static int run_child(unsigned long fail_at, int fail_after, enum way way)
{
    linux_move = strata__huge_move;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        if (way == WITH_CPU_TABLES) {
            strata__percpu_start();
        } else if (way == HARDENED) {
            strata__hard_start();
        }
        strata__huge_move = move_or_refuse;
        test_os_install(fail_at, fail_after);
        test_os.all = 1;
        run();
        _exit(test_os.failures > 0 ? 0 : 2);
    }
    int status = 0;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    return WEXITSTATUS(status);
}

static void every_call_fails(int fail_after, enum way way)
{
    unsigned long n = 1;
    int code = 0;
    while ((code = run_child(n, fail_after, way)) == 0) {
        n++;
    }
    assert_int_equal(code, 2);
    assert_true(n > 10);
}

static void nth_call_fails(void **state)
{
    (void)state;
    every_call_fails(0, CENTRAL_ONLY);
    every_call_fails(0, WITH_CPU_TABLES);
    every_call_fails(0, HARDENED);
}

static void nth_call_and_all_after_fail(void **state)
{
    (void)state;
    every_call_fails(1, CENTRAL_ONLY);
    every_call_fails(1, WITH_CPU_TABLES);
    every_call_fails(1, HARDENED);
}

static void mremap_fails(void **state)
{
    (void)state;
    int (*move)(void *, size_t, void *, size_t) = strata__huge_move;
    char *block = strata__front_alloc(40 * MIB);
    memset(block, 3, 40 * MIB);
    test_os_install(1, 1); /* nor in place */
    test_os.fail_at = 0;
    strata__huge_move = refuse_to_move;
    block = strata__front_realloc(block, 41 * MIB);
    test_os_remove();
    strata__huge_move = move;
    assert_non_null(block);
    assert_int_equal(block[40 * MIB - 1], 3);
    strata__front_free(block);
    strata__front_trim();
    strata__front_check();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nth_call_fails),
        cmocka_unit_test(nth_call_and_all_after_fail),
        cmocka_unit_test(mremap_fails),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
