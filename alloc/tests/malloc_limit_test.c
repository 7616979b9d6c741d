/* The limit on what the malloc replacement holds: the exact byte at which it refuses, what
 * it gives up before, and that it goes on once something was freed. Each case in a child,
 * since the heap keeps what it has got. */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "blockclass.h"
#include "cgroup.h"
#include "front.h"
#include "front_figures.h"
#include "limit.h"
#include "percpu.h"
#include "size.h"

#define BLOCKS 20000

static void run_alone(void (*body)(void))
{
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        strata__percpu_start();
        body();
        _exit(0);
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

/* In a child an assertion of cmocka has nowhere to jump to. */
static void must(int condition, const char *what)
{
    if (!condition) {
        (void)fprintf(stderr, "not true: %s\n", what);
        _exit(1);
    }
}

#define MUST(condition) must((condition) != 0, #condition)

/* Recounted: what is held is what the parts say, and not more than the limit. */
static size_t held(void)
{
    struct strata__front_stats stats;
    strata__front_check();
    strata__front_get_stats(&stats);
    MUST(strata__limit_held() == stats.resident_bytes + stats.metadata_bytes);
    MUST(strata__limit_held() <= strata__limit_hard());
    return strata__limit_held();
}

/* A block of each kind, so that tables, descriptors and regions are there. */
static void warm_up(void)
{
    for (size_t bytes = 8; bytes <= 64 * MIB; bytes *= 2) {
        strata__front_free(strata__front_alloc(bytes));
    }
    strata__front_trim();
}

static void refuses_the_first_page_above(size_t bytes)
{
    test_stay_on_this_cpu();
    warm_up();
    strata__limit_set(held() + bytes, 0);
    errno = 0;
    MUST(strata__front_alloc(bytes + 1) == NULL);
    MUST(errno == ENOMEM);
    char *block = strata__front_alloc(bytes);
    MUST(block != NULL);
    MUST(held() == strata__limit_hard());
    errno = 0;
    MUST(strata__front_alloc(40000) == NULL);
    MUST(errno == ENOMEM);
    strata__front_free(block);
    MUST(strata__front_alloc(40000) != NULL);
    held();
}

static void large(void)
{
    refuses_the_first_page_above(25 * PAGE);
}

static void huge(void)
{
    refuses_the_first_page_above(48 * MIB);
}

/* One byte less than the pages need. */
static void to_the_byte(void)
{
    test_stay_on_this_cpu();
    warm_up();
    strata__limit_set(held() + 25 * PAGE - 1, 0);
    MUST(strata__front_alloc(25 * PAGE) == NULL);
    strata__limit_set(strata__limit_hard() + 1, 0);
    MUST(strata__front_alloc(25 * PAGE) != NULL);
}

/* Every byte of every page that may be held is handed out before one is refused. */
static void small(void)
{
    static char *blocks[BLOCKS];
    size_t got = 0;
    test_stay_on_this_cpu();
    warm_up();
    size_t before = held();
    strata__limit_set(before + 64 * PAGE, 0);
    while (got < BLOCKS && (blocks[got] = strata__front_alloc(256)) != NULL) {
        memset(blocks[got], 1, 256);
        got++;
    }
    /* The descriptors of four slabs may take up to one page. */
    MUST(got >= 63 * 16 && got <= 64 * 16);
    MUST(held() + PAGE > strata__limit_hard());
    strata__front_free(blocks[got / 2]);
    MUST(strata__front_alloc(256) == blocks[got / 2]);
    MUST(strata__front_alloc(256) == NULL);
    for (size_t i = 0; i < got; i++) {
        strata__front_free(blocks[i]);
    }
    strata__front_trim();
    MUST(held() < before + PAGE);
}

/* At the limit a free block does as well that is not the first of its slab, if its page is
 * held already. */
static void what_is_held_can_be_had(void)
{
    char *blocks[48]; /* three pages */
    test_stay_on_this_cpu();
    warm_up();
    for (size_t i = 0; i < 48; i++) {
        blocks[i] = strata__front_alloc(256);
    }
    for (size_t i = 0; i < 16; i++) {
        strata__front_free(blocks[i]);
    }
    strata__front_free(blocks[40]);
    strata__front_trim();
    strata__limit_set(held(), 0);
    int found = 0;
    size_t got = 0;
    for (char *block = NULL; (block = strata__front_alloc(256)) != NULL; got++) {
        found |= block == blocks[40];
    }
    /* Other pages that are held may have room as well: two pages of it. */
    MUST(found && got <= 32);
    held();
}

/* What is free goes back before anything is refused: pages in partly used slabs, spans,
 * blocks that CPUs keep. */
static void purges_before_it_refuses(void)
{
    static char *blocks[BLOCKS];
    warm_up();
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = strata__front_alloc(256);
    }
    char *span = strata__front_alloc(8 * MIB);
    for (size_t i = 0; i < BLOCKS; i++) {
        if (i % 1024 != 0) {
            strata__front_free(blocks[i]);
        }
    }
    strata__front_free(span);
    size_t before = held();
    strata__limit_set(before, 0);
    MUST(strata__front_alloc(12 * MIB) != NULL);
    held();
}

static void realloc_keeps_to_it(void)
{
    warm_up();
    strata__limit_set(held() + 64 * MIB, 0);
    for (size_t start = 40000; start < 48 * MIB; start = start * 5 + 1) {
        char *block = strata__front_alloc(start);
        size_t bytes = start;
        char *grown = block;
        while (grown != NULL) {
            block = grown;
            block[bytes - 1] = 3;
            grown = strata__front_realloc(block, bytes + bytes / 2);
            bytes = grown != NULL ? bytes + bytes / 2 : bytes;
            held();
        }
        MUST(errno == ENOMEM);
        MUST(bytes > 16 * MIB);
        MUST(block[bytes - 1] == 3);
        MUST(strata__front_realloc(block, bytes / 8) != NULL);
        held();
        strata__front_trim();
        strata__limit_set(held() + 64 * MIB, 0);
    }
}

/* Most of the blocks of each class are freed before the next class is used: 53 MiB in all
 * if nothing went back. */
static int soft_purges(void)
{
    static char *blocks[4000];
    const size_t sizes[] = {1024, 1280, 1536, 1792, 2048, 2560, 3072};
    size_t most = 0;
    size_t start = held();
    strata__limit_set(0, start + 20 * MIB);
    for (size_t round = 0; round < sizeof(sizes) / sizeof(sizes[0]); round++) {
        for (size_t i = 0; i < 4000; i++) {
            blocks[i] = strata__front_alloc(sizes[round]);
            MUST(blocks[i] != NULL);
            most = strata__limit_held() > most ? strata__limit_held() : most;
        }
        for (size_t i = 0; i < 4000; i++) {
            if (i % 16 != 0) {
                strata__front_free(blocks[i]);
            }
        }
    }
    return most <= start + 22 * MIB;
}

static void soft_limit_only_purges(void)
{
    warm_up();
    MUST(soft_purges());
    strata__limit_set(0, PAGE);
    void *block = strata__front_alloc(8 * MIB);
    MUST(block != NULL);
    strata__front_free(block);
    MUST(held() > PAGE);
}

static void run_on(size_t cpu)
{
    cpu_set_t one;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    MUST(sched_setaffinity(0, sizeof(one), &one) == 0);
}

/* With a bound of one table a second CPU goes without, and gets the first one's once that
 * keeps nothing. */
static void tables_follow_the_cpus_allowed(void)
{
    cpu_set_t allowed;
    size_t cpus[2] = {0};
    size_t found = 0;
    MUST(sched_getaffinity(0, sizeof(allowed), &allowed) == 0);
    for (size_t cpu = 0; cpu < CPU_SETSIZE && found < 2; cpu++) {
        if (CPU_ISSET(cpu, &allowed)) {
            cpus[found++] = cpu;
        }
    }
    if (found < 2 || strata__percpu_rseq == 0) {
        return; /* one CPU, or a sanitizer: there is no second table to be had */
    }
    unsigned class = strata__block_class_of(4000);
    strata__percpu_bound(1);
    run_on(cpus[0]);
    void *block = strata__front_alloc(4000);
    size_t one = strata__percpu_metadata_bytes();
    size_t kept = strata__percpu_blocks(class);
    MUST(one > 0);
    run_on(cpus[1]);
    strata__front_free(block);
    MUST(strata__percpu_blocks(class) == kept); /* home, since this CPU keeps nothing */
    MUST(strata__percpu_metadata_bytes() == one);
    strata__percpu_drain(1);
    MUST(strata__percpu_blocks(class) == 0);
    strata__front_free(strata__front_alloc(4000));
    MUST(strata__percpu_blocks(class) > 0);
    MUST(strata__percpu_metadata_bytes() == one);
    held();
}

static void *fill_to_the_limit(void *argument)
{
    (void)argument;
    static _Thread_local char *blocks[2000];
    for (int round = 0; round < 20; round++) {
        size_t got = 0;
        while (got < 2000 && (blocks[got] = strata__front_alloc(got % 97 * 97)) != NULL) {
            got++;
        }
        for (size_t i = 0; i < got; i++) {
            strata__front_free(blocks[i]);
        }
    }
    return NULL;
}

static void threads_keep_to_it_together(void)
{
    pthread_t threads[4];
    warm_up();
    strata__limit_set(held() + 2 * MIB, 0);
    for (size_t i = 0; i < 4; i++) {
        MUST(pthread_create(&threads[i], NULL, fill_to_the_limit, NULL) == 0);
    }
    while (pthread_tryjoin_np(threads[0], NULL) != 0) {
        MUST(strata__limit_held() <= strata__limit_hard());
    }
    for (size_t i = 1; i < 4; i++) {
        MUST(pthread_join(threads[i], NULL) == 0);
    }
    strata__front_trim();
    held();
    MUST(strata__front_alloc(MIB) != NULL);
}

static void refuses_exactly(void **state)
{
    (void)state;
    run_alone(large);
    run_alone(huge);
    run_alone(to_the_byte);
    run_alone(small);
    run_alone(what_is_held_can_be_had);
}

static void gives_up_what_is_free(void **state)
{
    (void)state;
    run_alone(purges_before_it_refuses);
    run_alone(soft_limit_only_purges);
}

static void holds_for_realloc_and_threads(void **state)
{
    (void)state;
    run_alone(realloc_keeps_to_it);
    run_alone(threads_keep_to_it_together);
    run_alone(tables_follow_the_cpus_allowed);
}

static void sizes_as_written(void **state)
{
    (void)state;
    const struct {
        const char *text;
        size_t bytes;
    } good[] = {{"1", 1}, {"4096", 4096}, {"3K", 3072}, {"512M", 512 * MIB},
        {"2G", 2048 * MIB}, {"1T", (size_t)1 << 40}};
    const char *const bad[] = {"", "0", "M", "-1", "1m", "1MB", "1 ", "0%", "101%",
        "0x10", "99999999999999999999", "99999999999T", "%", "+5"};
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        size_t bytes = 0;
        assert_int_equal(strata__size_parse(good[i].text, "", &bytes), 0);
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        size_t bytes = 77;
        assert_int_equal(strata__size_parse(bad[i], "", &bytes), -EINVAL);
        assert_int_equal(bytes, 77);
    }
}

/* The captured cgroups of the tool's tests: version 1 and 2, containers, nested limits. */
static void shares_of_the_cgroup(void **state)
{
    (void)state;
    const struct {
        const char *system;
        size_t limit, cpus;
    } cases[] = {
        {"v1", 300 * MIB, 2},
        {"v1-container", 100 * MIB, 0},
        {"v2", 200 * MIB, 3},
        {"v2-container", 64 * MIB, 1},
        {"none", 0, 0},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char system[512];
        size_t share = 0;
        (void)snprintf(
            system, sizeof(system), "%s/cgroup/%s", STRATA_TEST_DATA, cases[i].system);
        assert_int_equal(strata__cgroup_memory_limit(system), cases[i].limit);
        assert_int_equal(strata__cgroup_cpus(system), cases[i].cpus);
        assert_int_equal(strata__size_parse("80%", system, &share), 0);
        if (cases[i].limit != 0) {
            assert_int_equal(share, cases[i].limit * 4 / 5);
        } else {
            assert_true(share > MIB); /* of all memory */
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_exactly),
        cmocka_unit_test(gives_up_what_is_free),
        cmocka_unit_test(holds_for_realloc_and_threads),
        cmocka_unit_test(sizes_as_written),
        cmocka_unit_test(shares_of_the_cgroup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
