/*
 * test_glibc_read.c - the whole glibc reader on synthetic heaps: every layout to the byte, lists
 * of freed blocks through all of a heap. Damaged heaps are in test_glibc_hostile.c, heaps that
 * change in test_glibc_running.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/heap_window.h"
#include "glibc_reading.h"

/* Free bytes are on whole resident pages, on shared ones, or on whole pages without RAM. */
static void assert_free_adds_up(const struct glibc_arena *arena, uint64_t absent_bytes)
{
    assert_int_equal(arena->free_shared_bytes.state, FACT_OK);
    assert_int_equal(arena->free_bytes + arena->fast_bytes + arena->top_bytes,
        arena->free_resident_bytes + arena->top_resident_bytes +
            arena->free_shared_bytes.value + absent_bytes);
}

static void reads_every_layout_to_the_byte(void **state)
{
    (void)state;
    for (int i = 0; i < GLIBC_LAYOUT_COUNT; i++) {
        const struct glibc_facts *glibc;
        glibc_reading_begin((enum glibc_layout_id)i);
        glibc = glibc_reading_read();
        assert_int_equal(glibc->state, FACT_OK);
        assert_int_equal(glibc->layout, i);
        assert_int_equal(glibc->arena_count, 2);
        glibc_reading_compare(&glibc->arenas[0], &glibc_reading.image.expected_main);
        glibc_reading_compare(&glibc->arenas[1], &glibc_reading.image.expected_second);
        assert_free_adds_up(&glibc->arenas[0], 0);
        assert_free_adds_up(&glibc->arenas[1], 0);
        assert_int_equal(glibc->parameters.state, FACT_OK);
        assert_int_equal(glibc->parameters.mmapped_blocks, 2);
        assert_int_equal(glibc->mmapped_found_bytes.state, FACT_OK);
        assert_int_equal(glibc->mmapped_found_bytes.value, GLIBC_IMAGE_BLOCK_BYTES);
        assert_int_equal(glibc->tcaches.value, 1);
        assert_int_equal(glibc->tcache_bytes.value, glibc_reading.image.cached_bytes);
        glibc_reading_end();
    }
}

/* The pages inside free chunks and below top's end, as mtrim() and systrim() take them. */
static void predicts_the_trim_and_skips_absent_pages(void **state)
{
    struct glibc_image *image = &glibc_reading.image;
    const struct glibc_arena *arena;
    uint64_t first, top_gain;

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    /* The header reaches into a second page, which stays; 4 whole pages; drop one. */
    first = (image->main_free + GLIBC_CHUNK_STRUCT_BYTES + GLIBC_IMAGE_PAGE - 1) /
            GLIBC_IMAGE_PAGE * GLIBC_IMAGE_PAGE;
    glibc_image_drop(image, first + GLIBC_IMAGE_PAGE, first + 2 * GLIBC_IMAGE_PAGE);
    arena = &glibc_reading_read()->arenas[0];
    glibc_reading_compare(arena, &image->expected_main);
    top_gain = (arena->top_bytes - GLIBC_CHUNK_MINIMUM_BYTES - 1) / GLIBC_IMAGE_PAGE *
               GLIBC_IMAGE_PAGE;
    assert_int_equal(arena->free_resident_bytes, 3 * GLIBC_IMAGE_PAGE);
    assert_int_equal(arena->top_trimmable_bytes, top_gain);
    assert_int_equal(arena->trim_gain_bytes, 3 * GLIBC_IMAGE_PAGE + top_gain);
    assert_free_adds_up(arena, GLIBC_IMAGE_PAGE);
    assert_int_equal(arena->resident_bytes, GLIBC_IMAGE_MAIN_BYTES - GLIBC_IMAGE_PAGE);
    /* A second arena's top is resident, and never given back. */
    arena = &glibc_reading.process.glibc.arenas[1];
    assert_int_equal(arena->top_trimmable_bytes, 0);
    assert_true(arena->top_resident_bytes > 0);
    assert_int_equal(arena->trim_gain_bytes, arena->free_resident_bytes);
    glibc_reading_end();
}

static void works_without_mp_and_without_a_version(void **state)
{
    const struct glibc_facts *glibc;

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_42);
    glibc_image_drop(&glibc_reading.image,
        glibc_reading.image.mappings[GLIBC_IMAGE_TEXT].start,
        glibc_reading.image.mappings[GLIBC_IMAGE_TEXT].end);
    glibc_image_put(&glibc_reading.image,
        glibc_reading.image.parameters +
            glibc_reading.image.layout->parameters.tcache_bins,
        0);
    glibc = glibc_reading_read();
    assert_null(glibc->version);
    assert_int_equal(glibc->parameters.state, FACT_ABSENT);
    assert_int_equal(glibc->layout, GLIBC_LAYOUT_2_42);
    glibc_reading_compare(&glibc->arenas[1], &glibc_reading.image.expected_second);
    assert_int_equal(glibc->mmapped_found_bytes.state, FACT_STALE);
    glibc_reading_end();
}

static void tells_a_version_that_does_not_fit(void **state)
{
    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_43);
    memcpy(glibc_reading.image.data[GLIBC_IMAGE_TEXT] + 100, "GLIBC_2.31", 10);
    assert_int_equal(glibc_reading_read()->layout, GLIBC_LAYOUT_2_43);
    assert_string_equal(glibc_reading.process.glibc.version, "2.31");
    glibc_reading_compare(
        &glibc_reading.process.glibc.arenas[0], &glibc_reading.image.expected_main);
    glibc_reading_end();
}

static void is_absent_where_malloc_never_ran(void **state)
{
    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    memset(glibc_reading.image.data[GLIBC_IMAGE_DATA], 0, GLIBC_IMAGE_DATA_BYTES);
    assert_int_equal(glibc_reading_read()->state, FACT_ABSENT);
    assert_non_null(glibc_reading.process.glibc.why);
    assert_int_equal(glibc_reading.process.glibc.arena_count, 0);
    glibc_reading_end();
}

/* ---- lists through the whole of a heap */

enum {
    FILLED_PAIRS = 4000,
    FILLED_SMALL = 0x20,
    FILLED_LARGE = 0x40,
    FILLED_PAIR = FILLED_SMALL + FILLED_LARGE
};

/* Puts chunk in front of the fast bin for its size. */
static void push_fast(struct glibc_image *image, uint64_t chunk, uint64_t bytes)
{
    const uint64_t bin = (bytes - GLIBC_CHUNK_MINIMUM_BYTES) / GLIBC_CHUNK_ALIGN;
    const uint64_t head = image->main_arena + image->layout->state.fast_bins + bin * 8;
    const uint64_t place = chunk + GLIBC_CHUNK_HEADER_BYTES;

    glibc_image_put(image, place, glibc_image_get(image, head) ^ place >> 12);
    glibc_image_put(image, head, chunk);
    image->expected_main.fast_bytes += bytes;
    image->expected_main.fast_chunks++;
    image->expected_main.in_use_bytes -= bytes;
    image->expected_main.in_use_chunks--;
}

static uint64_t main_top(const struct glibc_image *image)
{
    return glibc_image_get(image, image->main_arena + image->layout->state.top);
}

/* Cuts a chunk in use off the main top. */
static void cut(struct glibc_image *image, uint64_t bytes)
{
    const uint64_t top = main_top(image);

    glibc_image_put(image, top + bytes + 8, glibc_image_get(image, top + 8) - bytes);
    glibc_image_put(image, top + 8, bytes | GLIBC_PREV_IN_USE);
    glibc_image_put(image, image->main_arena + image->layout->state.top, top + bytes);
    image->expected_main.top_bytes -= bytes;
    image->expected_main.in_use_bytes += bytes;
    image->expected_main.in_use_chunks++;
}

/* Where the first of them is. */
static uint64_t cut_pairs(struct glibc_image *image)
{
    const uint64_t start = main_top(image);

    for (uint64_t i = 0; i < FILLED_PAIRS; i++) {
        cut(image, FILLED_SMALL);
        cut(image, FILLED_LARGE);
    }
    return start;
}

/* Frees every one, step pairs apart. */
static void fill_with_fast(struct glibc_image *image, uint64_t step)
{
    const uint64_t start = cut_pairs(image);

    for (uint64_t i = 0, place = 0; i < FILLED_PAIRS; i++) {
        push_fast(image, start + place * FILLED_PAIR, FILLED_SMALL);
        push_fast(image, start + (FILLED_PAIRS - 1 - place) * FILLED_PAIR + FILLED_SMALL,
            FILLED_LARGE);
        place = (place + step) % FILLED_PAIRS;
    }
}

/* Side by side, one up and one down; and in leaps, for which no one pass is enough. */
static void follows_fast_bins_in_every_order(void **state)
{
    static const uint64_t steps[] = {1, FILLED_PAIRS - 1, 1301};

    (void)state;
    for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++) {
        glibc_reading_begin(GLIBC_LAYOUT_2_35);
        fill_with_fast(&glibc_reading.image, steps[i]);
        glibc_reading_read();
        glibc_reading_compare(
            &glibc_reading.process.glibc.arenas[0], &glibc_reading.image.expected_main);
        glibc_reading_compare(
            &glibc_reading.process.glibc.arenas[1], &glibc_reading.image.expected_second);
        glibc_reading_end();
    }
}

/*
 * The link of the chunk at the end of a window is only in the next one, which then begins a
 * page below it: what the list leads to in that page has been passed.
 */
static void walks_again_for_chunks_seen_too_late(void **state)
{
    struct glibc_image *image = &glibc_reading.image;

    (void)state;
    for (uint64_t below = 1; below <= GLIBC_IMAGE_PAGE / FILLED_PAIR; below++) {
        glibc_reading_begin(GLIBC_LAYOUT_2_35);
        const uint64_t last =
            image->main_first + HEAP_WINDOW_BYTES - GLIBC_CHUNK_HEADER_BYTES;
        cut(image, FILLED_PAIR + (last - main_top(image)) % FILLED_PAIR);
        const uint64_t start = cut_pairs(image);
        push_fast(image, last - below * FILLED_PAIR, FILLED_SMALL);
        push_fast(image, last, FILLED_SMALL);
        push_fast(image, start, FILLED_SMALL);
        glibc_reading_read();
        glibc_reading_compare(
            &glibc_reading.process.glibc.arenas[0], &image->expected_main);
        glibc_reading_end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_layout_to_the_byte),
        cmocka_unit_test(predicts_the_trim_and_skips_absent_pages),
        cmocka_unit_test(works_without_mp_and_without_a_version),
        cmocka_unit_test(tells_a_version_that_does_not_fit),
        cmocka_unit_test(is_absent_where_malloc_never_ran),
        cmocka_unit_test(follows_fast_bins_in_every_order),
        cmocka_unit_test(walks_again_for_chunks_seen_too_late),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
