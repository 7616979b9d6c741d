/*
 * Runs under LD_PRELOAD=libstrata-malloc.so, as an unmodified program would. What this malloc
 * promises beyond what any does (semantics_test.c, lifetimes_test.c): its names, its
 * reports, memory that goes back, signals that allocate, libraries opened with
 * RTLD_DEEPBIND. The first case fails when the preload does not act.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/rseq.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../resident.h"
#include "../said.h"

#define MIB ((size_t)1 << 20)

/* The compiler knows malloc and would drop calls whose result it can foresee. */
static void *(*volatile call_malloc)(size_t) = malloc;
static void *(*volatile call_calloc)(size_t, size_t) = calloc;
static void *(*volatile call_realloc)(void *, size_t) = realloc;
static void *(*volatile call_aligned)(size_t, size_t) = aligned_alloc;

static void every_name_is_ours(void **state)
{
    (void)state;
    const char *const names[] = {"malloc", "free", "cfree", "free_sized",
        "free_aligned_sized", "calloc", "realloc", "reallocarray", "aligned_alloc",
        "memalign", "posix_memalign", "valloc", "pvalloc", "malloc_usable_size",
        "malloc_trim", "mallopt", "mallinfo", "mallinfo2", "malloc_info", "malloc_stats",
        "dlopen"};
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        Dl_info info;
        void *symbol = dlsym(RTLD_DEFAULT, names[i]);
        assert_non_null(symbol);
        assert_true(dladdr(symbol, &info) != 0);
        assert_non_null(strstr(info.dli_fname, "libstrata-malloc.so"));
    }
}

/* Where glibc is free to do either. */
static void stricter_than_glibc(void **state)
{
    (void)state;
    void *block = NULL;
    errno = 0;
    assert_null(call_aligned(24, 100)); /* glibc from 2.38 on */
    assert_int_equal(errno, EINVAL);
    errno = 5;
    assert_int_equal(posix_memalign(&block, 4, 100), EINVAL);
    assert_int_equal(posix_memalign(&block, 64, SIZE_MAX / 2), ENOMEM);
    assert_int_equal(errno, 5);
}

static void reports_know_the_blocks(void **state)
{
    (void)state;
    struct mallinfo2 before = mallinfo2();
    void *large = call_malloc(3 * MIB);
    void *small = call_malloc(1000);
    struct mallinfo2 after = mallinfo2();
    assert_int_equal(after.hblkhd - before.hblkhd, 3 * MIB);
    assert_int_equal(after.uordblks - before.uordblks, malloc_usable_size(small));
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(malloc_info(0, stream), 0);
    fclose(stream);
    assert_non_null(strstr(text, "<strata in_use=\""));
    free(text);
    free(small);
    free(large);
    malloc_stats();
}

/* Waits, for long on a busy machine, until the program's memory falls, and calls nothing that
 * allocates. */
static int falls_below(size_t kilobytes)
{
    for (int i = 0; i < 2400; i++) {
        const struct timespec pause = {.tv_nsec = 50000000};
        if (resident_kilobytes() < kilobytes) {
            return 1;
        }
        nanosleep(&pause, NULL);
    }
    return 0;
}

/* Fills 40 MiB, frees all but a block here and there, and goes quiet. */
static int quiet_program_shrinks(void)
{
    enum { BLOCKS = 40000 };
    static char *blocks[BLOCKS];
    memset(blocks, 1, sizeof(blocks));
    size_t before = resident_kilobytes();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = memset(call_malloc(1024), 1, 1024);
    }
    int grown = resident_kilobytes() > before + 38000;
    for (size_t i = 0; i < BLOCKS; i++) {
        if (i % 1000 != 0) {
            free(blocks[i]);
        }
    }
    int fallen = falls_below(before + 1500);
    for (size_t i = 0; i < BLOCKS; i += 1000) {
        free(blocks[i]);
    }
    return grown && fallen;
}

static void memory_goes_back_while_nothing_happens(void **state)
{
    (void)state;
    const struct timespec quiet = {.tv_sec = 2, .tv_nsec = 500000000};
    assert_true(quiet_program_shrinks());
    nanosleep(&quiet, NULL); /* the thread goes to sleep, and has to be woken */
    assert_true(quiet_program_shrinks());
    pid_t child = fork();
    if (child == 0) {
        _exit(!quiet_program_shrinks());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

static pthread_key_t exit_key;

/* Runs after other destructors may have run: allocates and frees once more. */
static void at_thread_exit(void *block)
{
    free(block);
    free(call_malloc(300));
}

static void *short_life(void *argument)
{
    (void)argument;
    pthread_setspecific(exit_key, call_malloc(200));
    return call_malloc(5000);
}

static void threads_leave_nothing_behind(void **state)
{
    (void)state;
    size_t start = 0;
    assert_int_equal(pthread_key_create(&exit_key, at_thread_exit), 0);
    for (int i = 0; i < 3000; i++) {
        pthread_t thread;
        void *block = NULL;
        assert_int_equal(pthread_create(&thread, NULL, short_life, NULL), 0);
        assert_int_equal(pthread_join(thread, &block), 0);
        free(block);
        if (i == 300) {
            start = resident_kilobytes();
        }
    }
    assert_in_range(resident_kilobytes(), 0, start + 256);
}

static volatile sig_atomic_t signals;

static void allocate_in_handler(int number)
{
    (void)number;
    void *block = call_malloc(64);
    memset(block, (int)signals, 64);
    free(block);
    signals++;
}

/* Signals interrupt the restartable sequences everywhere; a block handed out twice would
 * lose its pattern. The handler may allocate only because it interrupts nothing but
 * sequences: the loop stays below what one CPU keeps, and on that CPU. Without rseq there
 * is a lock instead, and nothing is promised. */
static void signals_restart_sequences(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = allocate_in_handler};
    struct itimerval often = {.it_interval = {0, 200}, .it_value = {0, 200}};
    struct itimerval never = {0};
    cpu_set_t before;
    cpu_set_t one;
    const char *hardened = getenv("STRATA_HARDENED");
    if (__rseq_size == 0 || hardened != NULL) {
        print_message("no rseq here: handlers must not allocate\n");
        return;
    }
    assert_int_equal(sched_getaffinity(0, sizeof(before), &before), 0);
    CPU_ZERO(&one);
    CPU_SET((size_t)sched_getcpu(), &one);
    assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
    for (size_t i = 0; i < 8; i++) {
        free(call_malloc(64));
    }
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (int round = 0; signals < 500; round++) {
        unsigned char *blocks[16];
        for (size_t i = 0; i < 16; i++) {
            blocks[i] = call_malloc(64);
            memset(blocks[i], (int)i + 1, 64);
        }
        for (size_t i = 0; i < 16; i++) {
            assert_int_equal(blocks[i][0], i + 1);
            assert_int_equal(blocks[i][63], i + 1);
            free(blocks[i]);
        }
        assert_true(round < 100000000);
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_int_equal(sched_setaffinity(0, sizeof(before), &before), 0);
}

static volatile sig_atomic_t refused;

/* Of all kinds; a handler may be told ENOMEM. */
static void allocate_all_kinds(int number)
{
    static const size_t sizes[] = {8, 64, 500, 3000, 30000, 70000, 2 * MIB};
    int saved = errno;
    (void)number;
    char *block = call_malloc(sizes[signals % 7]);
    char *other = call_calloc(1, sizes[(signals + 3) % 7]);
    if (block != NULL) {
        memset(block, 1, sizes[signals % 7]);
    }
    refused += block == NULL;
    char *grown = block != NULL ? call_realloc(block, 40000) : NULL;
    free(grown != NULL ? grown : block);
    free(other);
    signals++;
    errno = saved;
}

/* Wherever a signal comes, also where a lock is held, its handler may call malloc and free:
 * it is never stuck, blocks stay whole, and nothing is lost. (glibc promises none of it.) */
static void signals_may_allocate_anywhere(void **state)
{
    (void)state;
    struct sigaction action = {.sa_handler = allocate_all_kinds};
    struct itimerval often = {.it_interval = {0, 150}, .it_value = {0, 150}};
    struct itimerval never = {0};
    unsigned char *blocks[64] = {NULL};
    size_t sizes[64] = {0};
    malloc_trim(0);
    size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    signals = 0;
    alarm(0);
    assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
    setitimer(ITIMER_REAL, &often, NULL);
    for (size_t i = 0; signals < 3000 && i < 100000000; i++) {
        size_t at = i * 31 % 64;
        size_t bytes = 1 + i * 7919 % (i % 16 == 0 ? 300000 : 9000);
        if (blocks[at] != NULL) {
            assert_int_equal(blocks[at][0], at);
            assert_int_equal(blocks[at][sizes[at] - 1], at);
        }
        free(blocks[at]);
        blocks[at] = call_malloc(bytes);
        assert_non_null(blocks[at]);
        sizes[at] = bytes;
        memset(blocks[at], (int)at, bytes);
        if (i % 5000 == 0) {
            malloc_trim(0);
        }
    }
    setitimer(ITIMER_REAL, &never, NULL);
    assert_true(signals >= 3000);
    for (size_t i = 0; i < 64; i++) {
        free(blocks[i]);
    }
    malloc_trim(0);
    assert_int_equal(mallinfo2().uordblks + mallinfo2().hblkhd, before);
    print_message("%d of %d refused in handlers\n", (int)refused, (int)signals);
}

static void deepbind_changes_nothing(void **state)
{
    (void)state;
    void *plugin = dlopen(PLUGIN_PATH, RTLD_NOW | RTLD_DEEPBIND);
    assert_non_null(plugin);
    void *(*alloc)(size_t) = NULL;
    void (*release)(void *) = NULL;
    void *(*early)(void) = NULL;
    *(void **)&alloc = dlsym(plugin, "plugin_alloc");
    *(void **)&release = dlsym(plugin, "plugin_free");
    *(void **)&early = dlsym(plugin, "plugin_early");
    for (size_t bytes = 1; bytes < MIB; bytes = bytes * 3 + 1) {
        release(call_malloc(bytes));
        free(alloc(bytes));
    }
    free(early());
    assert_int_equal(dlclose(plugin), 0);
}

/* A block of the C library's own malloc, as a library bound before us would hand over. */
static void foreign_blocks_go_home(void **state)
{
    (void)state;
    void *(*libc_malloc)(size_t) = NULL;
    *(void **)&libc_malloc = dlsym(RTLD_DEFAULT, "__libc_malloc");
    assert_non_null(libc_malloc);
    char *block = libc_malloc(100);
    assert_true(malloc_usable_size(block) >= 100);
    strncpy(block, "as it was", 99);
    block = call_realloc(block, 100000);
    assert_string_equal(block, "as it was");
    free(block);
    free(libc_malloc(MIB));
}

static void free_it(void *block)
{
    free(block);
}

static void resize_it(void *block)
{
    block = call_realloc(block, 100);
    free(block);
}

static void measure_it(void *block)
{
    (void)malloc_usable_size(block);
}

static void misuse_inner_address(const void *context)
{
    void (*misuse)(void *);
    memcpy(&misuse, context, sizeof(misuse));
    misuse((char *)call_malloc(40 * MIB) + 16);
}

static void inner_addresses_of_huge_blocks_stay_here(void **state)
{
    (void)state;
    void (*const misuses[])(void *) = {free_it, resize_it, measure_it};
    for (size_t i = 0; i < sizeof(misuses) / sizeof(misuses[0]); i++) {
        char text[512];
        int status =
            test_said_by_child(misuse_inner_address, &misuses[i], text, sizeof(text));
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
        assert_non_null(strstr(text, "strata: heap 'malloc': not the start of a block"));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_name_is_ours),
        cmocka_unit_test(stricter_than_glibc),
        cmocka_unit_test(reports_know_the_blocks),
        cmocka_unit_test(memory_goes_back_while_nothing_happens),
        cmocka_unit_test(threads_leave_nothing_behind),
        cmocka_unit_test(signals_restart_sequences),
        cmocka_unit_test(signals_may_allocate_anywhere),
        cmocka_unit_test(deepbind_changes_nothing),
        cmocka_unit_test(foreign_blocks_go_home),
        cmocka_unit_test(inner_addresses_of_huge_blocks_stay_here),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
