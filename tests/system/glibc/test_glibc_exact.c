/*
 * test_glibc_exact.c - live, quiet targets: what is read from outside equals to the byte what
 * glibc says of itself, and what malloc_trim(0) will give back is what it then gives.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "compare_report.h"
#include "facts/collect.h"
#include "target_process.h"

/* Issue's bound: within 1 % or 512 KiB of what is measured. */
enum { TRIM_TOLERANCE_BYTES = 512 * 1024, TRIM_TOLERANCE_SHARE = 100 };

#define DYNAMIC STRATA_HEAP_TARGET
#define STATIC STRATA_HEAP_TARGET_STATIC

/* Argument: the same target, built by hand against another release of glibc. */
static const char *other_program;

struct shape {
    const char *program;
    const char *name;
    const char *megabytes;
    const char *environment;
};

static void collect(const struct target_process *target, struct facts *facts)
{
    struct facts_root root;
    struct error error = {0};
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%d", target->pid);
    assert_int_equal(facts_root_open(&root, NULL, &error), 0);
    if (facts_collect(&root, pid, COLLECT_STATUS | COLLECT_HEAPS, facts, &error) != 0) {
        fail_msg("%s", error.text);
    }
    facts_root_close(&root);
}

static void compare_trim(struct target_process *target, const struct glibc_facts *glibc)
{
    uint64_t predicted = 0, before, after, gained, tolerance;

    for (size_t i = 0; i < glibc->arena_count; i++) {
        predicted += glibc->arenas[i].trim_gain_bytes;
    }
    before = target_anonymous_bytes(target);
    target_send(target, "trim");
    target_expect(target, "trimmed");
    after = target_anonymous_bytes(target);
    gained = before > after ? before - after : 0;
    tolerance = gained / TRIM_TOLERANCE_SHARE;
    if (tolerance < TRIM_TOLERANCE_BYTES) {
        tolerance = TRIM_TOLERANCE_BYTES;
    }
    print_message("    trim: predicted %lu KiB, measured %lu KiB\n", predicted / 1024,
        gained / 1024);
    assert_in_range(
        predicted, gained > tolerance ? gained - tolerance : 0, gained + tolerance);
}

/* Starts the shape, compares, trims, compares again. */
static void check_shape(void **state)
{
    const struct shape *shape = *state;
    const bool other = other_program != NULL && strcmp(shape->program, STATIC) != 0;
    const char *const arguments[] = {
        other ? other_program : shape->program, shape->name, shape->megabytes, NULL};
    static struct report report;
    struct target_process target;
    struct facts facts;

    target_start(&target, arguments, shape->environment);
    target_read_report(&target, &report);
    collect(&target, &facts);
    compare_report(&facts.processes[0].glibc, &report, (uint64_t)sysconf(_SC_PAGESIZE));
    compare_trim(&target, &facts.processes[0].glibc);
    region_release(&facts.region);

    target_send(&target, "report");
    target_read_report(&target, &report);
    collect(&target, &facts);
    compare_report(&facts.processes[0].glibc, &report, (uint64_t)sysconf(_SC_PAGESIZE));
    region_release(&facts.region);
    target_stop(&target);
}

static struct shape single = {DYNAMIC, "single", "60", NULL};
static struct shape threads = {DYNAMIC, "threads", "200", NULL};
static struct shape arena_max = {DYNAMIC, "arena-max", "60", NULL};
static struct shape large_arena = {DYNAMIC, "large-arena", "200", NULL};
static struct shape mmapped = {DYNAMIC, "mmapped", "0", NULL};
static struct shape static_binary = {STATIC, "threads", "60", NULL};
static struct shape static_single = {STATIC, "single", "30", NULL};
static struct shape pinned = {DYNAMIC, "pinned", "100", NULL};
static struct shape no_tcache = {
    DYNAMIC, "threads", "60", "GLIBC_TUNABLES=glibc.malloc.tcache_count=0"};
static struct shape huge_pages = {
    DYNAMIC, "single", "60", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
static struct shape huge_threads = {
    DYNAMIC, "threads", "60", "GLIBC_TUNABLES=glibc.malloc.hugetlb=1"};
static struct shape odd_tunables = {DYNAMIC, "threads", "60",
    "GLIBC_TUNABLES=glibc.malloc.top_pad=1000000:glibc.malloc.trim_threshold=7000000:"
    "glibc.malloc.mmap_max=100:glibc.malloc.tcache_max=500:glibc.malloc.arena_test=3"};

static struct shape foreign_break = {DYNAMIC, "foreign-break", "40", NULL};
static struct shape no_break = {DYNAMIC, "no-break", "40", NULL};

#define SHAPE(variable)                                                                  \
    {                                                                                    \
#        variable, check_shape, NULL, NULL, &(variable)                                  \
    }

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        SHAPE(single),
        SHAPE(threads),
        SHAPE(arena_max),
        SHAPE(large_arena),
        SHAPE(mmapped),
        SHAPE(static_binary),
        SHAPE(static_single),
        SHAPE(pinned),
        SHAPE(no_tcache),
        SHAPE(huge_pages),
        SHAPE(huge_threads),
        SHAPE(odd_tunables),
        SHAPE(foreign_break),
        SHAPE(no_break),
    };

    if (argc > 1) {
        other_program = argv[1];
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
