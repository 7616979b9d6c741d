/* test_partition.c - every byte of Rss in one part, and in the right one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "model/partition.h"

struct fixture {
    struct facts facts;
    struct process_facts *process;
    struct partition partition;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    builder_init(&fixture->facts);
    fixture->process = builder_process(&fixture->facts, 100, "mariadbd");
    *state = fixture;
    return 0;
}

static int teardown(void **state)
{
    struct fixture *fixture = *state;

    builder_release(&fixture->facts);
    free(fixture);
    return 0;
}

static void map(struct fixture *fixture, uint64_t start, uint64_t size,
    const char *permissions, const char *path, uint64_t rss)
{
    builder_set_rss(builder_mapping(&fixture->facts, fixture->process, start, size,
                        permissions, path),
        rss);
}

static void divide(struct fixture *fixture)
{
    struct region scratch;
    uint64_t rss = 0;

    region_init(&scratch, (size_t)16 << 20);
    assert_int_equal(partition_build(&scratch, fixture->process, &fixture->partition), 0);
    region_release(&scratch);
    for (size_t i = 0; i < fixture->process->mapping_count; i++) {
        rss += fixture->process->mappings[i].values[MAPPING_FACT_RSS].value;
    }
    assert_int_equal(amounts_total(&fixture->partition.rss), rss);
}

#define assert_part(fixture, kind, size)                                                 \
    assert_int_equal((fixture)->partition.rss.bytes[kind], (size))

static void files_by_permission_and_copies(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 0x10000, 64 * KIB, "r--p", "/usr/sbin/mariadbd", 40 * KIB);
    map(fixture, 0x20000, 64 * KIB, "r-xp", "/usr/sbin/mariadbd", 60 * KIB);
    map(fixture, 0x30000, 64 * KIB, "rw-p", "/usr/sbin/mariadbd", 32 * KIB);
    fixture->process->mappings[2].values[MAPPING_FACT_ANONYMOUS] = fact_ok(24 * KIB);
    map(fixture, 0x40000, 128 * KIB, "rw-p", "", 100 * KIB); /* its bss */
    map(fixture, 0x80000, 64 * KIB, "r--p", "/usr/lib/locale/C.utf8/LC_CTYPE", 8 * KIB);
    map(fixture, 0x90000, 64 * KIB, "rw-s", "/var/lib/mysql/aria_log", 4 * KIB);
    divide(fixture);
    assert_part(fixture, PART_PROGRAM_READ_ONLY, 48 * KIB);
    assert_part(fixture, PART_PROGRAM_CODE, 60 * KIB);
    assert_part(fixture, PART_PROGRAM_DATA, 124 * KIB);
    assert_part(fixture, PART_FILE_PAGES, 12 * KIB);
}

static void shared_memory_and_special_mappings_by_name(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 0x100000, MIB, "rw-s", "/dev/zero (deleted)", 1 * KIB);
    map(fixture, 0x200000, MIB, "rw-s", "/SYSV00000000 (deleted)", 2 * KIB);
    map(fixture, 0x300000, MIB, "rw-s", "/memfd:a b (deleted)", 3 * KIB);
    map(fixture, 0x400000, MIB, "rw-s", "/dev/shm/pool", 4 * KIB);
    map(fixture, 0x500000, MIB, "rw-s", "/dev/nvidia0", 5 * KIB);
    map(fixture, 0x600000, MIB, "r-xp", "[vdso]", 6 * KIB);
    map(fixture, 0x700000, MIB, "rw-p", "[stack]", 7 * KIB);
    map(fixture, 0x800000, MIB, "rwxp", "", 8 * KIB);
    map(fixture, 0x900000, MIB, "rw-p", "[anon:v8 heap]", 9 * KIB);
    divide(fixture);
    assert_part(fixture, PART_SHM_ANONYMOUS, 1 * KIB);
    assert_part(fixture, PART_SHM_SYSV, 2 * KIB);
    assert_part(fixture, PART_SHM_MEMFD, 3 * KIB);
    assert_part(fixture, PART_SHM_POSIX, 4 * KIB);
    assert_part(fixture, PART_DEVICE, 5 * KIB);
    assert_part(fixture, PART_KERNEL_PAGES, 6 * KIB);
    assert_part(fixture, PART_MAIN_STACK, 7 * KIB);
    assert_part(fixture, PART_GENERATED_CODE, 8 * KIB);
    assert_part(fixture, PART_ANON_NAMED, 9 * KIB);
}

static void segments_of_caches_are_parts_of_shared_memory(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, MIB, MIB, "rw-s", "/dev/zero (deleted)", 40 * KIB);
    map(fixture, 2 * MIB, MIB, "rw-s", "/dev/zero (deleted)", 20 * KIB);
    map(fixture, 3 * MIB, MIB, "rw-s", "/dev/zero (deleted)", 10 * KIB);
    builder_span(&fixture->facts, fixture->process, SPAN_OPCACHE, MIB, MIB, 40 * KIB);
    builder_span(&fixture->facts, fixture->process, SPAN_APCU, 2 * MIB, MIB, 20 * KIB);
    divide(fixture);
    assert_part(fixture, PART_OPCACHE, 40 * KIB);
    assert_part(fixture, PART_APCU, 20 * KIB);
    assert_part(fixture, PART_SHM_ANONYMOUS, 10 * KIB);
}

/* Of 40 MiB, 30 of them resident. */
static struct glibc_arena *map_arena(struct fixture *fixture)
{
    map(fixture, 64 * MIB, 40 * MIB, "rw-p", "", 30 * MIB);
    builder_span(&fixture->facts, fixture->process, SPAN_GLIBC_ARENA_HEAP, 64 * MIB,
        64 * MIB, 30 * MIB);
    return builder_arena(&fixture->facts, fixture->process, false, 40 * MIB);
}

static void an_arena_is_divided_into_blocks_free_and_top(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena = map_arena(fixture);

    arena->free_resident_bytes = 12 * MIB;
    arena->trim_gain_bytes = 11 * MIB;
    arena->top_resident_bytes = 8 * MIB;
    arena->in_use_bytes = 6 * MIB;
    arena->overhead_bytes = 1 * MIB;
    divide(fixture);
    assert_part(fixture, PART_GLIBC_ARENA_TOPS, 8 * MIB);
    assert_part(fixture, PART_GLIBC_FREE, 11 * MIB);
    assert_part(fixture, PART_GLIBC_FREE_EDGES, 1 * MIB + 3 * MIB);
    assert_part(fixture, PART_GLIBC_IN_USE, 7 * MIB);
    assert_int_equal(fixture->partition.conflict_bytes, 0);
}

/* Counted holes come before blocks in use, of which some were never touched. */
static void holes_that_were_counted_are_no_blocks_in_use(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena = map_arena(fixture);

    arena->in_use_bytes = 33 * MIB;
    arena->free_shared_bytes = fact_ok(5 * MIB);
    divide(fixture);
    assert_part(fixture, PART_GLIBC_FREE_EDGES, 5 * MIB);
    assert_part(fixture, PART_GLIBC_IN_USE, 25 * MIB);
}

/* A heap in two mappings, and a neighbour that the kernel merged with it. */
static void a_span_may_cross_mappings_and_share_one(void **state)
{
    struct fixture *fixture = *state;

    builder_arena(&fixture->facts, fixture->process, false, 3 * MIB)->in_use_bytes =
        3 * MIB;
    map(fixture, 64 * MIB, 2 * MIB, "rw-p", "", 2 * MIB);
    map(fixture, 66 * MIB, 2 * MIB, "rw-p", "[anon:x]", 1536 * KIB);
    builder_span(&fixture->facts, fixture->process, SPAN_GLIBC_ARENA_HEAP, 64 * MIB,
        3 * MIB, 2560 * KIB);
    divide(fixture);
    assert_part(fixture, PART_GLIBC_IN_USE, 2560 * KIB);
    assert_part(fixture, PART_ANON_NAMED, 1 * MIB);
}

/* Pages that were read only are present in pagemap, and not in Rss. */
static void zero_pages_are_a_surplus_not_memory(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 64 * MIB, 8 * MIB, "rw-p", "", 2 * MIB);
    builder_span(
        &fixture->facts, fixture->process, SPAN_THREAD_STACK, 64 * MIB, 8 * MIB, 6 * MIB);
    divide(fixture);
    assert_part(fixture, PART_THREAD_STACKS, 2 * MIB);
    assert_int_equal(fixture->partition.surplus_bytes, 4 * MIB);
}

static void facts_that_contradict_are_a_conflict(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena;

    map(fixture, 64 * MIB, 8 * MIB, "rw-p", "", 2 * MIB);
    builder_span(&fixture->facts, fixture->process, SPAN_GLIBC_ARENA_HEAP, 64 * MIB,
        8 * MIB, 2 * MIB);
    arena = builder_arena(&fixture->facts, fixture->process, false, 8 * MIB);
    arena->free_resident_bytes = arena->trim_gain_bytes = 3 * MIB;
    divide(fixture);
    assert_part(fixture, PART_GLIBC_FREE, 2 * MIB);
    assert_int_equal(fixture->partition.conflict_bytes, 1 * MIB);
}

static void without_pagemap_a_span_takes_its_share_as_an_estimate(void **state)
{
    struct fixture *fixture = *state;
    struct span *span;

    map(fixture, 64 * MIB, 8 * MIB, "rw-p", "", 4 * MIB);
    span = builder_span(
        &fixture->facts, fixture->process, SPAN_CACHED_STACK, 64 * MIB, 2 * MIB, 0);
    span->resident = (struct fact){.state = FACT_DENIED};
    divide(fixture);
    assert_part(fixture, PART_CACHED_STACKS, 1 * MIB);
    assert_true(fixture->partition.rss.estimate[PART_CACHED_STACKS]);
}

static void unmarked_memory_belongs_to_the_other_allocator(void **state)
{
    struct fixture *fixture = *state;

    builder_allocator(&fixture->facts, fixture->process, ALLOCATOR_JEMALLOC);
    map(fixture, 64 * MIB, 8 * MIB, "rw-p", "", 4 * MIB);
    map(fixture, 90 * MIB, 8 * KIB, "rw-p", "", 8 * KIB);
    divide(fixture);
    assert_part(fixture, PART_ALLOCATOR + ALLOCATOR_JEMALLOC, 4 * MIB);
    assert_true(fixture->partition.rss.estimate[PART_ALLOCATOR + ALLOCATOR_JEMALLOC]);
    assert_part(fixture, PART_ANON_LOADER, 8 * KIB);
    assert_part(fixture, PART_UNEXPLAINED, 0);
}

/* All of malloc's memory is known: a buffer that is none of it was mapped directly. */
static void a_buffer_is_the_programs_own_when_malloc_is_known(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 64 * MIB, 128 * MIB, "rw-p", "", 100 * MIB);
    map(fixture, 256 * MIB, 128 * KIB, "rw-p", "", 128 * KIB);
    divide(fixture);
    assert_part(fixture, PART_UNEXPLAINED, 100 * MIB + 128 * KIB);

    builder_arena(&fixture->facts, fixture->process, true, MIB);
    divide(fixture);
    assert_part(fixture, PART_ANON_MAPPED, 100 * MIB);
    assert_part(fixture, PART_UNEXPLAINED, 128 * KIB);

    /* malloc says it mapped 30 MiB more than was found: they may be in there. */
    fixture->process->glibc.parameters.mmapped_bytes = 30 * MIB;
    divide(fixture);
    assert_part(fixture, PART_ANON_MAPPED, 70 * MIB);
    assert_part(fixture, PART_UNEXPLAINED, 30 * MIB + 128 * KIB);
}

/* A thousand mappings of a page that touch are one buffer, whatever their permissions. */
static void r_small_mappings_that_touch_are_one_buffer(void **state)
{
    struct fixture *fixture = *state;

    for (uint64_t i = 0; i < 1000; i++) {
        map(fixture, 64 * MIB + i * 4 * KIB, 4 * KIB, i % 2 == 0 ? "rw-p" : "r--p", "",
            4 * KIB);
    }
    map(fixture, 80 * MIB, 4 * KIB, "rw-p", "", 4 * KIB); /* does not touch */
    divide(fixture);
    assert_part(fixture, PART_ANON_MAPPED, 0);

    builder_arena(&fixture->facts, fixture->process, true, MIB);
    divide(fixture);
    assert_part(fixture, PART_ANON_MAPPED, 4000 * KIB);
    assert_true(fixture->partition.rss.estimate[PART_ANON_MAPPED]);
    assert_part(fixture, PART_ANON_LOADER, 4 * KIB);
    assert_part(fixture, PART_UNEXPLAINED, 0);
}

/* What has an owner in between is none of the buffer. */
static void neighbours_with_an_owner_do_not_make_a_buffer(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 64 * MIB, 128 * KIB, "rw-p", "", 128 * KIB);
    map(fixture, 64 * MIB + 128 * KIB, 8 * MIB, "rw-p", "", 1 * MIB);
    map(fixture, 72 * MIB + 128 * KIB, 120 * KIB, "rw-p", "", 120 * KIB);
    builder_span(&fixture->facts, fixture->process, SPAN_THREAD_STACK,
        64 * MIB + 128 * KIB, 8 * MIB, 1 * MIB);
    builder_arena(&fixture->facts, fixture->process, true, MIB);
    divide(fixture);
    assert_part(fixture, PART_THREAD_STACKS, 1 * MIB);
    assert_part(fixture, PART_ANON_MAPPED, 0);
    assert_part(fixture, PART_UNEXPLAINED, 248 * KIB);
}

static void pss_is_divided_like_rss(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 64 * MIB, 8 * MIB, "rw-p", "", 4 * MIB);
    fixture->process->mappings[0].values[MAPPING_FACT_PSS] = fact_ok(3 * MIB + 1);
    builder_span(
        &fixture->facts, fixture->process, SPAN_ZEND_CHUNK, 64 * MIB, 2 * MIB, 1 * MIB);
    divide(fixture);
    assert_int_equal(amounts_total(&fixture->partition.pss), 3 * MIB + 1);
    assert_int_equal(fixture->partition.pss.bytes[PART_ZEND_CHUNKS], 768 * KIB);
}

static void spans_out_of_order_are_not_believed(void **state)
{
    struct fixture *fixture = *state;

    map(fixture, 64 * MIB, 8 * MIB, "rw-p", "", 4 * MIB);
    builder_span(&fixture->facts, fixture->process, SPAN_ZEND_CHUNK, 66 * MIB, MIB, MIB);
    builder_span(&fixture->facts, fixture->process, SPAN_ZEND_CHUNK, 64 * MIB, MIB, MIB);
    divide(fixture);
    assert_part(fixture, PART_ZEND_CHUNKS, 0);
    assert_part(fixture, PART_UNEXPLAINED, 4 * MIB);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(files_by_permission_and_copies),
        TEST(shared_memory_and_special_mappings_by_name),
        TEST(segments_of_caches_are_parts_of_shared_memory),
        TEST(an_arena_is_divided_into_blocks_free_and_top),
        TEST(holes_that_were_counted_are_no_blocks_in_use),
        TEST(a_span_may_cross_mappings_and_share_one),
        TEST(zero_pages_are_a_surplus_not_memory),
        TEST(facts_that_contradict_are_a_conflict),
        TEST(without_pagemap_a_span_takes_its_share_as_an_estimate),
        TEST(unmarked_memory_belongs_to_the_other_allocator),
        TEST(a_buffer_is_the_programs_own_when_malloc_is_known),
        TEST(r_small_mappings_that_touch_are_one_buffer),
        TEST(neighbours_with_an_owner_do_not_make_a_buffer),
        TEST(pss_is_divided_like_rss),
        TEST(spans_out_of_order_are_not_believed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
