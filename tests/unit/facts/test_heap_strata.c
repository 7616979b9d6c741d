/* test_heap_strata.c - the statistics region of strata's malloc, good, moving and hostile. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "strata_image.h"

static struct strata_image image;

static const struct strata_facts *read_image(void)
{
    strata_image_read(&image);
    assert_false(image.touched_absent);
    return &image.process.strata;
}

/* Shared or private, by the mapping's name or by the first bytes in the library's data. */
static void reads_every_figure(void **state)
{
    (void)state;
    for (int shared = 0; shared < 2; shared++) {
        strata_image_open(&image, shared != 0);
        const struct strata_facts *facts = read_image();
        assert_int_equal(facts->state, FACT_OK);
        assert_int_equal(facts->in_use_bytes, 1005 * 64 + 18 * 4096);
        assert_int_equal(facts->in_use_blocks, 1006);
        assert_int_equal(facts->cached_bytes, 10 * 64);
        assert_int_equal(facts->held_bytes, STRATA_IMAGE_HEAP_BYTES);
        assert_int_equal(facts->free_bytes,
            facts->held_bytes - facts->in_use_bytes - facts->cached_bytes);
        assert_int_equal(facts->touched_bytes, (17 + 3 + 18 + 1 + 2) * 4096);
        assert_int_equal(facts->slab_tail_bytes, 0);
        assert_int_equal(facts->mixed_bytes, 65536);
        assert_int_equal(facts->large_asked_bytes, 70000);
        assert_int_equal(facts->purged_bytes, 4096);
        assert_int_equal(facts->class_count, 41);
        assert_int_equal(facts->classes[4].in_use_blocks, 1005);
        assert_int_equal(facts->classes[4].cached_blocks, 10);
        assert_int_equal(facts->classes[4].peak_blocks, 1500);
        assert_int_equal(facts->thread_count, 1);
        assert_string_equal(facts->threads[0].name, "connection 17");
        assert_int_equal(facts->record_count, 1);
        assert_string_equal(facts->records[0].tag, "sql/sort");
        assert_int_equal(facts->records[0].peak_bytes, 900);
        strata_image_close(&image);
    }
}

static void finds_all_places(void **state)
{
    (void)state;
    strata_image_open(&image, true);
    const struct strata_facts *facts = read_image();
    assert_true(facts->places_known);
    assert_int_equal(facts->resident_state, FACT_OK);
    assert_int_equal(facts->resident_bytes, STRATA_IMAGE_HEAP_BYTES);
    assert_int_equal(facts->free_resident_bytes,
        STRATA_IMAGE_HEAP_BYTES - facts->in_use_bytes - facts->cached_bytes);
    assert_int_equal(image.process.span_count, 2);
    assert_int_equal(image.process.spans[0].owner, SPAN_STRATA_REGION);
    assert_int_equal(image.process.spans[0].start, image.heap);
    assert_int_equal(image.process.spans[1].owner, SPAN_STRATA_BOOKS);
    strata_image_close(&image);
}

static void expect(uint32_t state, const char *why)
{
    const struct strata_facts *facts = read_image();

    assert_int_equal(facts->state, state);
    if (why == NULL) {
        assert_null(facts->why);
    } else {
        assert_non_null(strstr(facts->why, why));
    }
    strata_image_close(&image);
}

static void a_heap_that_moves_is_stale(void **state)
{
    (void)state;
    strata_image_open(&image, true);
    image.moving = true;
    strata_image_read(&image);
    const struct strata_facts *facts = &image.process.strata;
    assert_int_equal(facts->state, FACT_STALE);
    assert_non_null(facts->why);
    assert_in_range(facts->plus_minus_bytes, 16 * 64, 16 * 64);
    strata_image_close(&image);

    /* A writer that was stopped in the middle. */
    strata_image_open(&image, true);
    image.region->classes[4].sequence++;
    expect(FACT_STALE, "changed");
}

static void tells_whose_region_it_is(void **state)
{
    (void)state;
    strata_image_open(&image, true);
    image.region->process_id = 6;
    expect(FACT_ABSENT, "parent's");

    strata_image_open(&image, true);
    image.process.pid = 1007;
    image.process.namespace_pid = 7;
    expect(FACT_OK, NULL);

    strata_image_open(&image, true);
    image.region->magic[3]++;
    expect(FACT_ABSENT, NULL);

    strata_image_open(&image, true);
    image.region->version++;
    expect(FACT_MALFORMED, "version");
}

static void refuses_what_cannot_be(void **state)
{
    (void)state;
    static const struct {
        size_t offset;
        uint64_t value;
        size_t bytes;
    } lies[] = {
        {offsetof(struct strata_region, class_count), STRATA_LAYOUT_CLASSES + 1, 4},
        {offsetof(struct strata_region, cpus_used), STRATA_LAYOUT_CPUS + 1, 4},
        {offsetof(struct strata_region, cpus_used), 65, 4},
        {offsetof(struct strata_region, thread_count), STRATA_LAYOUT_THREADS + 1, 4},
        {offsetof(struct strata_region, tag_count), UINT32_MAX, 4},
        {offsetof(struct strata_region, record_count), UINT32_MAX, 4},
        {offsetof(struct strata_region, bytes), UINT32_MAX, 4},
        {offsetof(struct strata_region, classes[4].slabs), UINT64_MAX / 1024 + 2, 8},
        {offsetof(struct strata_region, classes[4].free_blocks), 2049, 8},
        {offsetof(struct strata_region, classes[4].free_blocks), 2044, 8},
        {offsetof(struct strata_region, classes[4].block_bytes), 65, 4},
        {offsetof(struct strata_region, classes[4].slab_blocks), UINT32_MAX, 4},
        {offsetof(struct strata_region, classes[4].touched_bytes), UINT64_MAX, 8},
        {offsetof(struct strata_region, units.mapped_bytes), UINT64_MAX, 8},
        {offsetof(struct strata_region, units.mapped_bytes), 4096, 8},
        {offsetof(struct strata_region, mixed.units), UINT64_MAX / 65536 + 2, 8},
        {offsetof(struct strata_region, mixed.out_blocks[4]), UINT64_MAX, 8},
        {offsetof(struct strata_region, large.large_bytes), UINT64_MAX - 5, 8},
        {offsetof(struct strata_region, threads[0].thread_id), UINT32_MAX, 4},
        {offsetof(struct strata_region, records[0].thread), 1, 2},
        {offsetof(struct strata_region, records[0].tag), UINT16_MAX, 2},
    };
    for (size_t i = 0; i < sizeof(lies) / sizeof(lies[0]); i++) {
        strata_image_open(&image, true);
        memcpy(image.bytes + lies[i].offset, &lies[i].value, lies[i].bytes);
        const struct strata_facts *facts = read_image();
        if (facts->state != FACT_MALFORMED) {
            print_error("lie %zu was believed\n", i);
        }
        assert_int_equal(facts->state, FACT_MALFORMED);
        assert_non_null(facts->why);
        assert_int_equal(facts->class_count + facts->in_use_bytes, 0);
        assert_int_equal(image.process.span_count, 0);
        strata_image_close(&image);
    }
}

static void names_need_no_end(void **state)
{
    (void)state;
    strata_image_open(&image, true);
    memset(image.region->tags[0], 'x', sizeof(image.region->tags[0]));
    memset(image.region->threads[0].name, 'y', sizeof(image.region->threads[0].name));
    const struct strata_facts *facts = read_image();
    assert_int_equal(strlen(facts->records[0].tag), STRATA_LAYOUT_TAG_BYTES);
    assert_int_equal(strlen(facts->threads[0].name), STRATA_LAYOUT_NAME_BYTES);
    strata_image_close(&image);
}

/* What the directory says must sum to what the region says, or it is not believed. */
static void a_directory_that_lies_gives_no_residency(void **state)
{
    (void)state;
    strata_image_open(&image, true);
    image.directory->places[0].bytes_and_kind -= 65536;
    assert_int_equal(read_image()->resident_state, FACT_MALFORMED);
    assert_false(image.process.strata.places_known);
    strata_image_close(&image);

    strata_image_open(&image, true);
    image.directory->place_count = STRATA_DIRECTORY_PLACES + 1;
    assert_int_equal(read_image()->resident_state, FACT_MALFORMED);
    strata_image_close(&image);

    strata_image_open(&image, true);
    image.directory->places[0] = (struct strata_place){UINT64_MAX - 5, UINT64_MAX - 4094};
    assert_false(read_image()->places_known);
    assert_int_equal(image.process.strata.state, FACT_OK);
    strata_image_close(&image);

    strata_image_open(&image, true);
    memset(image.directory->magic, 0, sizeof(image.directory->magic));
    assert_int_equal(read_image()->resident_state, FACT_MALFORMED);
    strata_image_close(&image);
}

static void nothing_is_found_where_nothing_is(void **state)
{
    (void)state;
    strata_image_open(&image, false);
    image.process.mapping_count = 1;
    expect(FACT_ABSENT, NULL);

    /* Nothing in it exists: none of its pages may be read. */
    strata_image_open(&image, true);
    memset(image.present, 0, 2);
    expect(FACT_ABSENT, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_figure),
        cmocka_unit_test(finds_all_places),
        cmocka_unit_test(a_heap_that_moves_is_stale),
        cmocka_unit_test(tells_whose_region_it_is),
        cmocka_unit_test(refuses_what_cannot_be),
        cmocka_unit_test(names_need_no_end),
        cmocka_unit_test(a_directory_that_lies_gives_no_residency),
        cmocka_unit_test(nothing_is_found_where_nothing_is),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
