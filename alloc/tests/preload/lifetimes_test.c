/*
 * Who may allocate and free, and when: forked children, threads that end in any order,
 * destructors of threads, of libraries and of the program. One binary for every
 * allocator, like semantics_test.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define CHILD_SECONDS 600 /* a child that is stuck is killed */

static void *(*volatile call_malloc)(size_t) = malloc;
static void *(*volatile call_realloc)(void *, size_t) = realloc;
static void (*volatile call_free)(void *) = free;

/* The C library's registration of destructors of thread_local objects (Itanium C++ ABI);
 * `library` is any address in the one whose object it is. */
extern int thread_atexit(void (*destroy)(void *), void *object, void *library) __asm__(
    "__cxa_thread_atexit_impl");

static size_t some_size(size_t number)
{
    static const size_t sizes[] = {
        8, 24, 100, 500, 1500, 4000, 20000, 70000, 200000, 3 * MIB};
    return sizes[number % (sizeof(sizes) / sizeof(sizes[0]))];
}

static unsigned char *make(size_t number)
{
    unsigned char *block = call_malloc(some_size(number));
    if (block != NULL) {
        block[0] = (unsigned char)number;
        block[some_size(number) - 1] = (unsigned char)number;
    }
    return block;
}

static int is_whole(const unsigned char *block, size_t number)
{
    return block != NULL && block[0] == (unsigned char)number &&
           block[some_size(number) - 1] == (unsigned char)number;
}

/* One of each kind. */
static int can_allocate(void)
{
    for (size_t i = 0; i < 10; i++) {
        unsigned char *block = make(i);
        if (!is_whole(block, i) || (block = call_realloc(block, 5000)) == NULL) {
            return 0;
        }
        call_free(block);
    }
    return 1;
}

static int exit_code_of(pid_t child)
{
    int status = -1;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    return WIFEXITED(status) ? WEXITSTATUS(status) : 256 + status;
}

/* ---- fork ---- */

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
    bad_children += child < 0 || exit_code_of(child) != 0;
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
        whole = whole && (blocks[at] == NULL || is_whole(blocks[at], at));
        call_free(blocks[at]);
        blocks[at] = make(at);
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
    assert_int_equal(exit_code_of(child), 0);
}

enum { PARENTS_BLOCKS = 200 };
static unsigned char *parents[PARENTS_BLOCKS];

static int stop;

static void *keep_allocating(void *argument)
{
    unsigned char *blocks[40] = {NULL};
    for (size_t i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); i++) {
        call_free(blocks[i % 40]);
        blocks[i % 40] = make(i % 9);
    }
    for (size_t i = 0; i < 40; i++) {
        call_free(blocks[i]);
    }
    return argument;
}

static void *fill_half(void *odd)
{
    for (size_t i = (size_t)odd; i < PARENTS_BLOCKS; i += 2) {
        parents[i] = make(i);
    }
    return NULL;
}

/* Frees all that the parent had, whoever allocated it, and starts threads of its own. */
static int child_frees_everything(void)
{
    pthread_t thread;
    int good = can_allocate();
    for (size_t i = 0; i < PARENTS_BLOCKS; i++) {
        good = good && is_whole(parents[i], i);
        call_free(parents[i]);
    }
    malloc_trim(0);
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    good = good && pthread_create(&thread, NULL, keep_allocating, NULL) == 0 &&
           pthread_join(thread, NULL) == 0 && can_allocate();
    return good;
}

static pid_t fork_child(int generations)
{
    pid_t child = fork();
    if (child == 0) {
        alarm(CHILD_SECONDS);
        if (generations > 0 && exit_code_of(fork_child(generations - 1)) != 0) {
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
        bad += exit_code_of(fork_child(i % 8 == 0)) != 0;
    }
    return (void *)bad;
}

static size_t prepared;

static void allocate_before_fork(void)
{
    prepared += (size_t)can_allocate();
}

static void allocate_after_fork(void)
{
    prepared += (size_t)can_allocate();
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
        void *(*body)(void *) = i < 2 ? keep_allocating : fork_often;
        assert_int_equal(pthread_create(&threads[i], NULL, body, (void *)60), 0);
    }
    for (size_t i = 2; i < 4; i++) {
        pthread_join(threads[i], &bad);
        assert_null(bad);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
    pthread_join(threads[0], NULL);
    pthread_join(threads[1], NULL);
    assert_true(prepared >= 200);
    for (size_t i = 0; i < PARENTS_BLOCKS; i++) {
        assert_true(is_whole(parents[i], i));
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
        assert_int_equal(exit_code_of(child), 0);
    }
}

/* ---- threads ---- */

enum { THREADS = 48, BLOCKS_EACH = 30 };

static void *make_many(void *first)
{
    unsigned char **blocks = call_malloc(BLOCKS_EACH * sizeof(*blocks));
    for (size_t i = 0; i < BLOCKS_EACH; i++) {
        blocks[i] = make((size_t)first + i);
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
        handed->whole &= is_whole(handed->blocks[i], handed->first + i);
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
    if (can_allocate()) {
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
    if (can_allocate()) {
        __atomic_fetch_add(&destroyed, 1, __ATOMIC_RELAXED);
    }
    call_free(block);
}

static void free_at_cancel(void *block)
{
    call_free(block);
    call_free(make(6));
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
    *(int *)good = can_allocate();
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
        release(make(i));
        kept[i] = alloc(some_size(i));
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
    if (said >= 0 && (!can_allocate() || write(said, &letter, 1) != 1)) {
        _exit(9);
    }
}

__attribute__((constructor(102))) static void early_constructor(void)
{
    before_main[0] = can_allocate() ? make(2) : NULL;
}

__attribute__((constructor)) static void constructor(void)
{
    before_main[1] = can_allocate() ? make(3) : NULL;
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
        stop = 0;
        atexit(at_exit);
        at_quick_exit(at_quick_exit_);
        for (size_t i = 0; i < 2; i++) {
            pthread_create(&threads[i], NULL, keep_allocating, NULL);
        }
        end(0);
    }
    assert_int_equal(exit_code_of(child), 0);
    assert_true(read(ends[0], text, sizeof(text) - 1) > 0);
    assert_string_equal(text, words);
    close(ends[0]);
    close(ends[1]);
}

static void the_program_ends(void **state)
{
    (void)state;
    assert_true(is_whole(before_main[0], 2));
    assert_true(is_whole(before_main[1], 3));
    for (int i = 0; i < 10; i++) {
        expect_words(exit, "edl");
        expect_words(quick_exit, "q");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_handler_forks), /* while there is one thread */
        cmocka_unit_test(storms_of_forks),
        cmocka_unit_test(spawned_programs),
        cmocka_unit_test(blocks_outlive_their_thread),
        cmocka_unit_test(destructors_allocate_and_free),
        cmocka_unit_test(the_smallest_stack_will_do),
        cmocka_unit_test(libraries_come_and_go),
        cmocka_unit_test(the_program_ends),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
