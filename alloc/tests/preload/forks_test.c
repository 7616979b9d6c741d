/*
 * Who may fork, and what the child may do: from handlers, beside threads that allocate, over
 * generations. One binary for every allocator, like semantics_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#include "blocks.h"
#include "family.h"

static volatile sig_atomic_t forks;
static volatile sig_atomic_t bad_children;

static void fork_in_handler(int number)
{
    int saved = errno;
    (void)number;
    pid_t child = fork();
    if (child == 0) {
        _exit(0);
    }
    bad_children += child < 0 || test_exit_code_of(child) != 0;
    forks++;
    errno = saved;
}

/* In a process of one thread fork is a function for handlers, whatever they interrupt. */
static int forks_from_handlers(void)
{
    struct sigaction action = {.sa_handler = fork_in_handler, .sa_flags = SA_RESTART};
    struct itimerval often = {.it_interval = {0, 500}, .it_value = {0, 500}};
    unsigned char *blocks[64] = {NULL};
    int whole = 1;
    sigaction(SIGPROF, &action, NULL);
    setitimer(ITIMER_PROF, &often, NULL);
    for (size_t i = 0; forks < 200; i++) {
        size_t at = i * 31 % 64;
        whole = whole && (blocks[at] == NULL || test_is_whole(blocks[at], at));
        call_free(blocks[at]);
        blocks[at] = test_make(at);
        if (i % 64 == 0) {
            malloc_trim(0);
        }
    }
    return whole && bad_children == 0;
}

static void a_handler_forks(void **state)
{
    (void)state;
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        _exit(!forks_from_handlers());
    }
    assert_int_equal(test_exit_code_of(child), 0);
}

enum { PARENTS_BLOCKS = 200 };
static unsigned char *parents[PARENTS_BLOCKS];

static void *fill_half(void *odd)
{
    for (size_t i = (size_t)odd; i < PARENTS_BLOCKS; i += 2) {
        parents[i] = test_make(i);
    }
    return NULL;
}

/* Frees all that the parent had, whoever allocated it, and starts threads of its own. */
static int child_frees_everything(void)
{
    pthread_t thread;
    int good = test_can_allocate();
    for (size_t i = 0; i < PARENTS_BLOCKS; i++) {
        good = good && test_is_whole(parents[i], i);
        call_free(parents[i]);
    }
    malloc_trim(0);
    __atomic_store_n(&test_stop, 1, __ATOMIC_RELAXED);
    good = good && pthread_create(&thread, NULL, test_keep_allocating, NULL) == 0 &&
           pthread_join(thread, NULL) == 0 && test_can_allocate();
    return good;
}

static pid_t fork_child(int generations)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        if (generations > 0 && test_exit_code_of(fork_child(generations - 1)) != 0) {
            _exit(2);
        }
        _exit(!child_frees_everything());
    }
    return child;
}

static void *fork_often(void *count)
{
    size_t bad = 0;
    for (size_t i = 0; i < (size_t)count; i++) {
        bad += test_exit_code_of(fork_child(i % 8 == 0)) != 0;
    }
    return (void *)bad;
}

static size_t prepared;

static void allocate_before_fork(void)
{
    prepared += (size_t)test_can_allocate();
}

static void allocate_after_fork(void)
{
    prepared += (size_t)test_can_allocate();
}

/* Two threads fork while two others allocate; handlers of fork allocate as well. */
static void storms_of_forks(void **state)
{
    (void)state;
    pthread_t threads[4];
    void *bad = NULL;
    assert_int_equal(
        pthread_atfork(allocate_before_fork, allocate_after_fork, allocate_after_fork),
        0);
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, fill_half, (void *)i), 0);
    }
    for (size_t i = 0; i < 2; i++) {
        pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < 4; i++) {
        void *(*body)(void *) = i < 2 ? test_keep_allocating : fork_often;
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)60), 0);
    }
    for (size_t i = 2; i < 4; i++) {
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    __atomic_store_n(&test_stop, 1, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_true(prepared >= 200);
    for (size_t i = 0; i < PARENTS_BLOCKS; i++) {
        assert_true(test_is_whole(parents[i], i));
        call_free(parents[i]);
    }
}

static void spawned_programs(void **state)
{
    (void)state;
    char *const words[] = {(char *)"/bin/true", NULL};
    for (int i = 0; i < 20; i++) {
        pid_t child = 0;
        assert_int_equal(posix_spawn(&child, words[0], NULL, NULL, words, environ), 0);
        assert_int_equal(test_exit_code_of(child), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_forks), /* while there is one thread */
        cmocka_unit_test(storms_of_forks),
        cmocka_unit_test(spawned_programs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
