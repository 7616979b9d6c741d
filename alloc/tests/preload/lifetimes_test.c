/*
 * Who may allocate and free, and when: threads that end in any order, destructors of threads,
 * of libraries and of the program. One binary for every allocator, like semantics_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "blocks.h"
#include "family.h"

/* The C library's registration of destructors of thread_local objects (Itanium C++ ABI);
 * `library` is any address in the one whose object it is. */
extern int thread_atexit(void (*destroy)(void *), void *object, void *library) __asm__(
    "__cxa_thread_atexit_impl");

/* ---- threads ---- */

enum { THREADS = 48, BLOCKS_EACH = 30 };

static void *make_many(void *first)
{
    unsigned char **blocks = call_malloc(BLOCKS_EACH * sizeof(*blocks));
    for (size_t i = 0; i < BLOCKS_EACH; i++) {
        blocks[i] = test_make((size_t)first + i);
    }
    return blocks;
}

struct handed {
    unsigned char **blocks;
    size_t first;
    int whole;
};

static void *free_many(void *argument)
{
    struct handed *handed = argument;
    handed->whole = 1;
    for (size_t i = BLOCKS_EACH; i-- > 0;) {
        handed->whole &= test_is_whole(handed->blocks[i], handed->first + i);
        call_free(handed->blocks[i]);
    }
    call_free(handed->blocks);
    return NULL;
}

/* All of a thread's blocks are freed by another one after its end, in another order. */
static void blocks_outlive_their_thread(void **state)
{
    (void)state;
    for (size_t round = 0; round < 3; round++) {
        pthread_t threads[THREADS];
        struct handed handed[THREADS];
        for (size_t i = 0; i < THREADS; i++) {
            assert_int_equal(pthread_create(&threads[i], NULL, make_many, (void *)i), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            size_t at = (i * 11 + round) % THREADS;
            void *blocks = NULL;
            assert_int_equal(pthread_join(threads[at], &blocks), 0);
            handed[at] = (struct handed){.blocks = blocks, .first = at};
            assert_int_equal(
                pthread_create(&threads[at], NULL, free_many, &handed[at]), 0);
        }
        for (size_t i = 0; i < THREADS; i++) {
            pthread_join(threads[i], NULL);
            assert_true(handed[i].whole);
        }
    }
}

static pthread_key_t keys[4];
static size_t destroyed;

/* Comes again in each round that the C library grants, with a new block each time. */
static void destroy_and_come_again(void *argument)
{
    unsigned char *block = argument;
    size_t round = block[0];
    if (test_can_allocate()) {
        __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
    }
    pthread_key_t key = keys[block[1]];
    if (round + 1 < PTHREAD_DESTRUCTOR_ITERATIONS) {
        unsigned char *next = call_malloc(16 + round * 5000);
        next[0] = (unsigned char)(round + 1);
        next[1] = block[1];
        pthread_setspecific(key, next);
    }
    call_free(block);
}

static void destroy_thread_local(void *block)
{
    if (test_can_allocate()) {
        __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
    }
    call_free(block);
}

static void free_at_cancel(void *block)
{
    call_free(block);
    call_free(test_make(6));
}

static void *live_with_destructors(void *way)
{
    for (size_t i = 0; i < 4; i++) {
        unsigned char *block = call_malloc(300);
        block[0] = 0;
        block[1] = (unsigned char)i;
        pthread_setspecific(keys[i], block);
    }
    thread_atexit(destroy_thread_local, call_malloc(77), &destroyed);
    void *block = call_malloc(9000);
    pthread_cleanup_push(free_at_cancel, block);
    if ((size_t)way == 1) {
        pthread_exit(NULL);
    } else if ((size_t)way == 2) {
        pause();
    }
    pthread_cleanup_pop(1);
    return NULL;
}

/* By return, by pthread_exit and by cancellation. */
static void destructors_allocate_and_free(void **state)
{
    (void)state;
    destroyed = 0;
    for (size_t i = 0; i < 4; i++) {
        assert_int_equal(pthread_key_create(&keys[i], destroy_and_come_again), 0);
    }
    for (size_t i = 0; i < 90; i++) {
        pthread_t thread;
        assert_int_equal(
            pthread_create(&thread, NULL, live_with_destructors, (void *)(i % 3)), 0);
        if (i % 3 == 2) {
            assert_int_equal(pthread_cancel(thread), 0);
        }
        assert_int_equal(pthread_join(thread, NULL), 0);
    }
    assert_in_range(destroyed, 60 * (4 * PTHREAD_DESTRUCTOR_ITERATIONS + 1),
        90 * (4 * PTHREAD_DESTRUCTOR_ITERATIONS + 1));
    for (size_t i = 0; i < 4; i++) {
        pthread_key_delete(keys[i]);
    }
}

static void *allocate_once(void *good)
{
    *(int *)good = test_can_allocate();
    return NULL;
}

/* The family needs little stack. */
static void the_smallest_stack_will_do(void **state)
{
    (void)state;
    pthread_attr_t attributes;
    assert_int_equal(pthread_attr_init(&attributes), 0);
    assert_int_equal(
        pthread_attr_setstacksize(&attributes, (size_t)sysconf(_SC_THREAD_STACK_MIN)), 0);
    for (int i = 0; i < 20; i++) {
        pthread_t thread;
        int good = 0;
        assert_int_equal(pthread_create(&thread, &attributes, allocate_once, &good), 0);
        assert_int_equal(pthread_join(thread, NULL), 0);
        assert_true(good);
    }
    pthread_attr_destroy(&attributes);
}

/* ---- libraries ---- */

/* Its constructor has allocated; its destructor frees one block and allocates. */
static void *open_and_close(void *nothing)
{
    void *kept[20];
    for (size_t i = 0; i < 20; i++) {
        void *plugin = dlopen(PLUGIN_PATH, i % 2 == 0 ? RTLD_NOW : RTLD_LAZY);
        void *(*alloc)(size_t) = NULL;
        void (*release)(void *) = NULL;
        *(void **)&alloc = dlsym(plugin, "plugin_alloc");
        *(void **)&release = dlsym(plugin, "plugin_free");
        release(test_make(i));
        kept[i] = alloc(test_some_size(i));
        if (dlclose(plugin) != 0) {
            return nothing;
        }
    }
    for (size_t i = 0; i < 20; i++) {
        call_free(kept[i]); /* after the library that has allocated it is gone */
    }
    return kept[0];
}

static void libraries_come_and_go(void **state)
{
    (void)state;
    pthread_t threads[3];
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(pthread_create(&threads[i], NULL, open_and_close, NULL), 0);
    }
    for (size_t i = 0; i < 3; i++) {
        void *good = NULL;
        pthread_join(threads[i], &good);
        assert_non_null(good);
    }
}

/* ---- the program ---- */

static void *before_main[2];
static int said = -1; /* where the last words of a child go */

static void say(char letter)
{
    if (said >= 0 && (!test_can_allocate() || write(said, &letter, 1) != 1)) {
        _exit(9);
    }
}

__attribute__((constructor(102))) static void early_constructor(void)
{
    before_main[0] = test_can_allocate() ? test_make(2) : NULL;
}

__attribute__((constructor)) static void constructor(void)
{
    before_main[1] = test_can_allocate() ? test_make(3) : NULL;
}

__attribute__((destructor)) static void destructor(void)
{
    call_free(before_main[1]);
    say('d');
}

__attribute__((destructor(102))) static void late_destructor(void)
{
    call_free(before_main[0]);
    say('l');
}

static void at_exit(void)
{
    say('e');
}

static void at_quick_exit_(void)
{
    say('q');
}

/* Ends a child in some way, while two of its threads go on allocating. */
static void expect_words(void (*end)(int), const char *words)
{
    int ends[2];
    char text[16] = {0};
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        pthread_t threads[2];
        alarm(CHILD_SECONDS);
        said = ends[1];
        test_stop = 0;
        atexit(at_exit);
        at_quick_exit(at_quick_exit_);
        for (size_t i = 0; i < 2; i++) {
            pthread_create(&threads[i], NULL, test_keep_allocating, NULL);
        }
        end(0);
    }
    assert_int_equal(test_exit_code_of(child), 0);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, words);
    close(ends[0]);
    close(ends[1]);
}

static void the_program_ends(void **state)
{
    (void)state;
    assert_true(test_is_whole(before_main[0], 2));
    assert_true(test_is_whole(before_main[1], 3));
    for (int i = 0; i < 10; i++) {
        expect_words(exit, "edl");
        expect_words(quick_exit, "q");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_outlive_their_thread),
        cmocka_unit_test(destructors_allocate_and_free),
        cmocka_unit_test(the_smallest_stack_will_do),
        cmocka_unit_test(libraries_come_and_go),
        cmocka_unit_test(the_program_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
