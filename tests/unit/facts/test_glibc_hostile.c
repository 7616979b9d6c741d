/* test_glibc_hostile.c - what a hostile target may put where glibc has its heaps. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/glibc.h"
#include "glibc_reading.h"

enum { ENDLESS_ARENAS = 1000000 };

/* Puts word at address and expects the main arena, or else the second, to be malformed. */
static void expect_malformed(uint64_t address, uint64_t word, bool main)
{
    const struct glibc_facts *glibc;

    glibc_image_put(&glibc_reading.image, address, word);
    glibc = glibc_reading_read();
    assert_int_equal(glibc->arena_count, 2);
    assert_int_equal(glibc->arenas[main ? 0 : 1].state, FACT_MALFORMED);
    assert_non_null(glibc->arenas[main ? 0 : 1].why);
    assert_int_equal(glibc->arenas[main ? 1 : 0].state, FACT_OK);
    assert_int_equal(glibc->state, FACT_MALFORMED);
    assert_true(glibc->arenas[main ? 0 : 1].plus_minus_bytes > 0);
    glibc_reading_end();
}

static void refuses_sizes_that_cannot_be(void **state)
{
    static const uint64_t sizes[] = {0, 1, 8 | 1, 0x28 | 1, UINT64_MAX - 14,
        UINT64_C(1) << 60 | 1, UINT64_C(1) << 45 | 1, GLIBC_IMAGE_MAIN_BYTES | 1,
        0x150 | GLIBC_IS_MMAPPED | 1};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        glibc_reading_begin(GLIBC_LAYOUT_2_30);
        expect_malformed(glibc_reading.image.main_last + 8, sizes[i], true);
    }
}

static void refuses_a_footer_that_tells_another_size(void **state)
{
    const struct glibc_image *image = &glibc_reading.image;

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    expect_malformed(image->main_free + image->expected_main.free_bytes, 0x20, true);
}

static void refuses_tops_in_nowhere(void **state)
{
    static const uint64_t tops[] = {
        0, 8, 0x555550000010, 0x123456789000, UINT64_MAX - 15, UINT64_C(1) << 63};

    (void)state;
    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
        glibc_reading_begin(GLIBC_LAYOUT_2_35);
        expect_malformed(
            glibc_reading.image.main_arena + glibc_reading.image.layout->state.top,
            tops[i], true);
        glibc_reading_begin(GLIBC_LAYOUT_2_43);
        expect_malformed(
            glibc_reading.image.second_arena + glibc_reading.image.layout->state.top,
            tops[i], false);
    }
}

static void refuses_heaps_that_lie(void **state)
{
    const uint64_t heap = 0x7f0040000000;

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35); /* a chain that leads back to itself */
    expect_malformed(heap + 8, heap, false);
    glibc_reading_begin(GLIBC_LAYOUT_2_35); /* larger than any heap */
    expect_malformed(heap + 16, UINT64_C(1) << 40, false);
    glibc_reading_begin(GLIBC_LAYOUT_2_30);
    expect_malformed(heap + 16, 0, false);
    glibc_reading_begin(
        GLIBC_LAYOUT_2_35); /* system_mem that the heaps do not add up to */
    expect_malformed(
        glibc_reading.image.second_arena + glibc_reading.image.layout->state.system_mem,
        GLIBC_IMAGE_HEAP_BYTES * UINT64_C(2), false);
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    expect_malformed(
        glibc_reading.image.main_arena + glibc_reading.image.layout->state.system_mem,
        4096, true);
}

static void ends_rings_that_never_close(void **state)
{
    const struct glibc_state_layout *layout = &glibc_layouts[GLIBC_LAYOUT_2_35].state;
    static const uint64_t nexts[] = {0, 0x7f0040000030, 0x7f0060010000, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(nexts) / sizeof(nexts[0]); i++) {
        glibc_reading_begin(GLIBC_LAYOUT_2_35);
        glibc_image_put(&glibc_reading.image,
            glibc_reading.image.second_arena + layout->next, nexts[i]);
        assert_int_equal(glibc_reading_read()->state, FACT_MALFORMED);
        assert_non_null(glibc_reading.process.glibc.why);
        assert_in_range(glibc_reading.process.glibc.arena_count, 1, 2);
        glibc_reading_compare(
            &glibc_reading.process.glibc.arenas[0], &glibc_reading.image.expected_main);
        glibc_reading_end();
    }
}

/* Even when the only other arena is rubbish, main_arena is found at its right place. */
static void knows_main_arena_without_a_ring(void **state)
{
    static const enum glibc_layout_id layouts[] = {
        GLIBC_LAYOUT_2_26, GLIBC_LAYOUT_2_35, GLIBC_LAYOUT_2_43};

    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        glibc_reading_begin(layouts[i]);
        memset(glibc_reading.image.data[GLIBC_IMAGE_HEAP], 0xa5, GLIBC_IMAGE_HEAP_BYTES);
        assert_int_equal(glibc_reading_read()->state, FACT_MALFORMED);
        assert_int_equal(glibc_reading.process.glibc.arena_count, 1);
        glibc_reading_compare(
            &glibc_reading.process.glibc.arenas[0], &glibc_reading.image.expected_main);
        assert_int_equal(glibc_reading.process.glibc.layout, layouts[i]);
        glibc_reading_end();
    }
}

/* Lists of freed blocks: loops, and pointers into nowhere. */
static void admits_torn_fast_bins(void **state)
{
    static const uint64_t links[] = {0, 1, 0x4141414141414140};

    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        const struct glibc_arena *arena;
        glibc_reading_begin(GLIBC_LAYOUT_2_30);
        glibc_image_put(&glibc_reading.image, glibc_reading.image.main_fast + 16,
            links[i] == 0 ? glibc_reading.image.main_fast : links[i]);
        arena = &glibc_reading_read()->arenas[0];
        assert_int_equal(arena->state, FACT_STALE);
        assert_true(arena->plus_minus_bytes > 0);
        assert_non_null(arena->why);
        glibc_reading_end();
    }
}

/* ---- a ring of a million arenas */

static const uint64_t endless_start = 0x100000000000;
static const uint64_t endless_step = UINT64_C(64) << 20;

static int endless_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    const struct glibc_state_layout *layout = &glibc_layouts[GLIBC_LAYOUT_2_35].state;
    const uint64_t heap = address / endless_step * endless_step;
    const uint64_t arena = heap + 0x30, next = arena + endless_step;
    const uint64_t at = address - heap;

    if (address < endless_start ||
        address >= endless_start + ENDLESS_ARENAS * endless_step) {
        (void)memory;
        return glibc_reading.image.memory.operations->read(
            &glibc_reading.image.memory, address, data, bytes);
    }
    memset(data, 0, bytes);
    if (at == 0 && bytes >= sizeof(arena)) {
        memcpy(data, &arena, sizeof(arena));
    }
    if (at == 0x30 + layout->bins) {
        uint64_t self = address - 16;
        for (size_t i = 0; i + 16 <= bytes; i += 16, self += 16) {
            memcpy((char *)data + i, &self, sizeof(self));
            memcpy((char *)data + i + 8, &self, sizeof(self));
        }
    }
    if (at == 0x30 + layout->next && bytes >= sizeof(next)) {
        memcpy(data, &next, sizeof(next));
    }
    return 0;
}

static int endless_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    if (address >= endless_start &&
        address < endless_start + ENDLESS_ARENAS * endless_step) {
        memset(bits, PAGE_PRESENT, count);
        return 0;
    }
    (void)memory;
    return glibc_reading.image.memory.operations->pages(
        &glibc_reading.image.memory, address, count, bits);
}

static void reads_no_more_arenas_than_it_may(void **state)
{
    static const struct memory_operations operations = {
        .read = endless_read, .pages = endless_pages};
    struct memory endless = {.operations = &operations, .page_bytes = GLIBC_IMAGE_PAGE};

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    glibc_image_put(&glibc_reading.image,
        glibc_reading.image.second_arena + glibc_reading.image.layout->state.next,
        endless_start + 0x30);
    glibc_image_process(&glibc_reading.image, &glibc_reading.process);
    assert_int_equal(
        glibc_read(&endless, &glibc_reading.region, &glibc_reading.process), 0);
    assert_int_equal(glibc_reading.process.glibc.state, FACT_MALFORMED);
    assert_int_equal(glibc_reading.process.glibc.arena_count, FACTS_MAX_ARENAS);
    glibc_reading_compare(
        &glibc_reading.process.glibc.arenas[0], &glibc_reading.image.expected_main);
    glibc_reading_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(refuses_sizes_that_cannot_be),
        cmocka_unit_test(refuses_a_footer_that_tells_another_size),
        cmocka_unit_test(refuses_tops_in_nowhere),
        cmocka_unit_test(refuses_heaps_that_lie),
        cmocka_unit_test(ends_rings_that_never_close),
        cmocka_unit_test(knows_main_arena_without_a_ring),
        cmocka_unit_test(admits_torn_fast_bins),
        cmocka_unit_test(reads_no_more_arenas_than_it_may),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
