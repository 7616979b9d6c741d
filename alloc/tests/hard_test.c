/* The stronger mode: each misuse that it promises to find, in a child; no false alarm; and
 * the books stay exact. */
#include "support.h"

#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blockclass.h"
#include "fork.h"
#include "front.h"
#include "front_figures.h"
#include "hard.h"
#include "region.h"
#include "said.h"

static void *volatile sink;

static void misuse_in_the_stronger_mode(const void *context)
{
    void (*misuse)(void);
    memcpy(&misuse, context, sizeof(misuse));
    (void)signal(SIGSEGV, SIG_DFL); /* cmocka's own handler would jump away */
    strata__hard_start();
    misuse();
}

/* The signal that ended a child which did it, and what it said. */
static int end_of(void (*misuse)(void), char text[512])
{
    int status = test_said_by_child(misuse_in_the_stronger_mode, &misuse, text, 512);
    return WIFSIGNALED(status) ? WTERMSIG(status) : 0;
}

/* Many other blocks go through free between. */
static void churn(size_t rounds)
{
    for (size_t i = 0; i < rounds; i++) {
        strata__front_free(strata__front_alloc(100));
    }
}

static void twice_later(void)
{
    char *block = strata__front_alloc(100);
    strata__front_free(block);
    churn(500);
    strata__front_free(block);
}

static void twice_much_later(void)
{
    char *stays = strata__front_alloc(100);
    char *block = strata__front_alloc(100);
    sink = stays;
    strata__front_free(block);
    strata__hard_flush();
    strata__front_free(block);
}

static void twice_large(void)
{
    char *block = strata__front_alloc(100000);
    strata__front_free(block);
    strata__front_free(block);
}

static void inside(void)
{
    strata__front_free((char *)strata__front_alloc(100) + 16);
}

static void leave_quietly(void *block)
{
    (void)block;
    _exit(0);
}

static void inside_large(void)
{
    char *block = strata__front_alloc(100000);
    strata__front_foreign.release = leave_quietly;
    strata__front_free(block + 16);
}

static void inside_far(void)
{
    char *block = strata__front_aligned(4 * 65536, 1000000);
    strata__front_foreign.release = leave_quietly;
    strata__front_free(block + 999999);
}

static void before_large(void)
{
    char *block = strata__front_alloc(100000);
    strata__front_foreign.release = leave_quietly;
    strata__front_free(block - 16);
}

static void behind_large(void)
{
    char *block = strata__front_alloc(150000);
    strata__front_foreign.release = leave_quietly;
    strata__front_free(block + strata__front_usable(block));
}

static void inside_aligned(void)
{
    strata__front_free((char *)strata__front_aligned(1024, 3000) + 1024);
}

static void realloc_inside(void)
{
    sink = strata__front_realloc((char *)strata__front_alloc(100) + 16, 900);
}

static void usable_inside(void)
{
    sink = (void *)strata__front_usable((char *)strata__front_alloc(100) + 16);
}

static void write_in_quarantine(void)
{
    char *block = strata__front_alloc(200);
    strata__front_free(block);
    block[190] = 'x';
    churn(2000);
}

static void write_in_slab(void)
{
    char *stays = strata__front_alloc(200);
    char *block = strata__front_alloc(200);
    sink = stays;
    strata__front_free(block);
    strata__hard_flush();
    block[0] = 'x';
    for (size_t i = 0; i < 400; i++) {
        sink = strata__front_alloc(200);
    }
}

static void write_behind_large(void)
{
    char *block = strata__front_alloc(100000);
    block[strata__front_usable(block)] = 'x';
}

static void write_before_large(void)
{
    char *block = strata__front_aligned(65536, 100000);
    block[-1] = 'x';
}

static void read_freed_large(void)
{
    char *block = strata__front_alloc(100000);
    block[0] = 'x';
    strata__front_free(block);
    sink = (void *)(uintptr_t)block[0];
}

static void misuse_is_found(void **state)
{
    (void)state;
    const struct {
        const char *name;
        void (*misuse)(void);
        int number;
        const char *said;
    } cases[] = {
        {"twice later", twice_later, SIGABRT, "double free"},
        {"twice much later", twice_much_later, SIGABRT, "not an allocated block"},
        {"twice large", twice_large, SIGABRT, "not an allocated block"},
        {"inside", inside, SIGABRT, "not the start of a block"},
        {"inside large", inside_large, SIGABRT, "not the start of a block"},
        {"inside far", inside_far, SIGABRT, "not the start of a block"},
        {"before large", before_large, SIGABRT, "not an allocated block"},
        {"behind large", behind_large, SIGABRT, "not an allocated block"},
        {"inside aligned", inside_aligned, SIGABRT, "not the start of a block"},
        {"realloc inside", realloc_inside, SIGABRT, "not the start of a block"},
        {"usable inside", usable_inside, SIGABRT, "not the start of a block"},
        {"write in quarantine", write_in_quarantine, SIGABRT, "write to a free block"},
        {"write in slab", write_in_slab, SIGABRT, "write to a free block"},
        {"write behind large", write_behind_large, SIGSEGV, ""},
        {"write before large", write_before_large, SIGSEGV, ""},
        {"read freed large", read_freed_large, SIGSEGV, ""},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char text[512];
        print_message("%s\n", cases[i].name);
        assert_int_equal(end_of(cases[i].misuse, text), cases[i].number);
        assert_non_null(strstr(text, cases[i].said));
        if (cases[i].number == SIGABRT) {
            assert_non_null(strstr(text, "heap 'malloc'"));
            assert_non_null(strstr(text, "address 0x"));
        }
    }
}

static void must(int condition)
{
    if (!condition) {
        _exit(1);
    }
}

/* Blocks from before the mode was on, of all kinds and sizes, through the whole life. */
static void work(void)
{
    enum { BLOCKS = 400 };
    static unsigned char *blocks[BLOCKS];
    static size_t sizes[BLOCKS];
    uint64_t random = 77;
    for (size_t i = 0; i < 60000; i++) {
        size_t at = test_random(&random) % BLOCKS;
        size_t bytes = test_random(&random) % (i % 50 == 0 ? 200000 : 3000);
        must(sizes[at] == 0 || blocks[at][sizes[at] - 1] == (unsigned char)at);
        blocks[at] = i % 3 == 0 ? strata__front_realloc(blocks[at], bytes + 1)
                                : (strata__front_free(blocks[at]),
                                      strata__front_calloc(1, bytes + 1));
        must(blocks[at] != NULL);
        sizes[at] = bytes + 1;
        blocks[at][bytes] = (unsigned char)at;
        if (i == 20000) {
            strata__front_free(strata__front_alloc(300000)); /* leaves a dirty span */
            strata__hard_start();
        }
        if (i % 10000 == 0) {
            strata__front_trim();
        }
    }
    struct strata__front_stats stats;
    size_t live = 0;
    for (size_t i = 0; i < BLOCKS; i++) {
        live += blocks[i] != NULL ? strata__front_usable(blocks[i]) : 0;
    }
    strata__front_check();
    strata__front_get_stats(&stats);
    must(stats.in_use_bytes == live);
    for (size_t i = 0; i < BLOCKS; i++) {
        strata__front_free(blocks[i]);
    }
    strata__front_trim();
    strata__front_check();
    strata__front_get_stats(&stats);
    must(stats.in_use_blocks == 0 && stats.resident_bytes == 0);
}

/* What a reader of the region takes from what is out. */
static size_t shown_as_kept(void)
{
    size_t blocks = 0;
    for (uint32_t cpu = 0; cpu < strata__shared.region.cpus_used; cpu++) {
        for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
            blocks += strata__shared.region.cpus[cpu].counts[i];
        }
    }
    return blocks;
}

static void free_many_and_count(void)
{
    struct strata__front_stats before;
    struct strata__front_stats after;
    char *blocks[900];
    strata__hard_start();
    must(pthread_atfork(strata__fork_prepare, strata__fork_parent, strata__fork_child) ==
         0);
    strata__front_get_stats(&before);
    for (size_t i = 0; i < 900; i++) {
        blocks[i] = strata__front_alloc(1000);
    }
    for (size_t i = 0; i < 900; i++) {
        strata__front_free(blocks[i]);
    }
    strata__front_get_stats(&after);
    must(after.in_use_bytes == before.in_use_bytes);
    must(after.in_use_blocks == before.in_use_blocks);
    must(after.cached_bytes == (size_t)900 * 1024);
    must(shown_as_kept() == 900);
    pid_t child = fork();
    if (child == 0) {
        must(shown_as_kept() == 900);
        strata__hard_flush();
        must(shown_as_kept() == 0);
        strata__front_get_stats(&after);
        must(after.in_use_blocks == before.in_use_blocks && after.cached_bytes == 0);
        _exit(0);
    }
    int status = -1;
    must(waitpid(child, &status, 0) == child && status == 0);
}

static void succeeds_in_a_child(void (*body)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static void r_the_quarantine_is_not_in_use(void **state)
{
    (void)state;
    succeeds_in_a_child(free_many_and_count);
}

static void honest_work_is_not_blamed(void **state)
{
    (void)state;
    succeeds_in_a_child(work);
}

/* Where blocks lie: offsets of a run, written to a pipe. */
static void tell_places(int to)
{
    uintptr_t places[32];
    strata__hard_start();
    for (size_t i = 0; i < 32; i++) {
        places[i] = (uintptr_t)strata__front_alloc(64) & 0xffff;
    }
    (void)!write(to, places, sizeof(places));
    _exit(0);
}

static void places_are_random(void **state)
{
    (void)state;
    uintptr_t places[2][32] = {{0}};
    size_t in_order = 0;
    for (size_t i = 0; i < 2; i++) {
        int ends[2];
        assert_int_equal(pipe(ends), 0);
        pid_t child = fork();
        if (child == 0) {
            tell_places(ends[1]);
        }
        close(ends[1]);
        assert_int_equal(read(ends[0], places[i], sizeof(places[i])), sizeof(places[i]));
        close(ends[0]);
        assert_int_equal(waitpid(child, NULL, 0), child);
    }
    assert_memory_not_equal(places[0], places[1], sizeof(places[0]));
    for (size_t i = 1; i < 32; i++) {
        in_order += places[0][i] == places[0][i - 1] + 64;
    }
    assert_in_range(in_order, 0, 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_is_found),
        cmocka_unit_test(honest_work_is_not_blamed),
        cmocka_unit_test(r_the_quarantine_is_not_in_use),
        cmocka_unit_test(places_are_random),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
