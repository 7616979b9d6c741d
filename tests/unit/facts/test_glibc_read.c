/*
 * test_glibc_read.c - the whole glibc reader on synthetic heaps: every layout to the byte, and
 * what a hostile or a running target may do to it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/glibc.h"
#include "facts/heap_window.h"
#include "facts_types/facts.h"
#include "glibc_image.h"

enum { REGION_BYTES = 64 << 20, ENDLESS_ARENAS = 1000000 };

/* One image, read. */
struct reading {
    struct glibc_image image;
    struct process_facts process;
    struct region region;
};

static struct reading reading;

static void begin(enum glibc_layout_id layout)
{
    glibc_image_init(&reading.image, layout);
    region_init(&reading.region, REGION_BYTES);
}

static const struct glibc_facts *read_image(void)
{
    glibc_image_process(&reading.image, &reading.process);
    assert_int_equal(
        glibc_read(&reading.image.memory, &reading.region, &reading.process), 0);
    assert_false(reading.image.touched_absent);
    return &reading.process.glibc;
}

static void end(void)
{
    region_release(&reading.region);
    glibc_image_release(&reading.image);
}

/* Free bytes are on whole resident pages, on shared ones, or on whole pages without RAM. */
static void assert_free_adds_up(const struct glibc_arena *arena, uint64_t absent_bytes)
{
    assert_int_equal(arena->free_shared_bytes.state, FACT_OK);
    assert_int_equal(arena->free_bytes + arena->fast_bytes + arena->top_bytes,
        arena->free_resident_bytes + arena->top_resident_bytes +
            arena->free_shared_bytes.value + absent_bytes);
}

static void compare(const struct glibc_arena *arena, const struct glibc_arena *expected)
{
    if (arena->state != FACT_OK) {
        fail_msg("%s: %s", fact_state_names[arena->state], arena->why);
    }
    assert_true(arena->address == expected->address);
    assert_int_equal(arena->main, expected->main);
    assert_int_equal(arena->contiguous, expected->contiguous);
    assert_int_equal(arena->plus_minus_bytes, 0);
    assert_int_equal(arena->held_bytes, expected->held_bytes);
    assert_int_equal(arena->free_bytes, expected->free_bytes);
    assert_int_equal(arena->free_chunks, expected->free_chunks);
    assert_int_equal(arena->fast_bytes, expected->fast_bytes);
    assert_int_equal(arena->fast_chunks, expected->fast_chunks);
    assert_int_equal(arena->top_bytes, expected->top_bytes);
    assert_int_equal(arena->in_use_bytes, expected->in_use_bytes);
    assert_int_equal(arena->in_use_chunks, expected->in_use_chunks);
    assert_int_equal(arena->overhead_bytes, expected->overhead_bytes);
    assert_int_equal(arena->cached_bytes, expected->cached_bytes);
}

static void reads_every_layout_to_the_byte(void **state)
{
    (void)state;
    for (int i = 0; i < GLIBC_LAYOUT_COUNT; i++) {
        const struct glibc_facts *glibc;
        begin((enum glibc_layout_id)i);
        glibc = read_image();
        assert_int_equal(glibc->state, FACT_OK);
        assert_int_equal(glibc->layout, i);
        assert_int_equal(glibc->arena_count, 2);
        compare(&glibc->arenas[0], &reading.image.expected_main);
        compare(&glibc->arenas[1], &reading.image.expected_second);
        assert_free_adds_up(&glibc->arenas[0], 0);
        assert_free_adds_up(&glibc->arenas[1], 0);
        assert_int_equal(glibc->parameters.state, FACT_OK);
        assert_int_equal(glibc->parameters.mmapped_blocks, 2);
        assert_int_equal(glibc->mmapped_found_bytes.state, FACT_OK);
        assert_int_equal(glibc->mmapped_found_bytes.value, GLIBC_IMAGE_BLOCK_BYTES);
        assert_int_equal(glibc->tcaches.value, 1);
        assert_int_equal(glibc->tcache_bytes.value, reading.image.cached_bytes);
        end();
    }
}

/* The pages inside free chunks and below top's end, as mtrim() and systrim() take them. */
static void predicts_the_trim_and_skips_absent_pages(void **state)
{
    struct glibc_image *image = &reading.image;
    const struct glibc_arena *arena;
    uint64_t first, top_gain;

    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    /* The header reaches into a second page, which stays; 4 whole pages; drop one. */
    first = (image->main_free + GLIBC_CHUNK_STRUCT_BYTES + GLIBC_IMAGE_PAGE - 1) /
            GLIBC_IMAGE_PAGE * GLIBC_IMAGE_PAGE;
    glibc_image_drop(image, first + GLIBC_IMAGE_PAGE, first + 2 * GLIBC_IMAGE_PAGE);
    arena = &read_image()->arenas[0];
    compare(arena, &image->expected_main);
    top_gain = (arena->top_bytes - GLIBC_CHUNK_MINIMUM_BYTES - 1) / GLIBC_IMAGE_PAGE *
               GLIBC_IMAGE_PAGE;
    assert_int_equal(arena->free_resident_bytes, 3 * GLIBC_IMAGE_PAGE);
    assert_int_equal(arena->top_trimmable_bytes, top_gain);
    assert_int_equal(arena->trim_gain_bytes, 3 * GLIBC_IMAGE_PAGE + top_gain);
    assert_free_adds_up(arena, GLIBC_IMAGE_PAGE);
    assert_int_equal(arena->resident_bytes, GLIBC_IMAGE_MAIN_BYTES - GLIBC_IMAGE_PAGE);
    /* A second arena's top is resident, and never given back. */
    arena = &reading.process.glibc.arenas[1];
    assert_int_equal(arena->top_trimmable_bytes, 0);
    assert_true(arena->top_resident_bytes > 0);
    assert_int_equal(arena->trim_gain_bytes, arena->free_resident_bytes);
    end();
}

static void works_without_mp_and_without_a_version(void **state)
{
    const struct glibc_facts *glibc;

    (void)state;
    begin(GLIBC_LAYOUT_2_42);
    glibc_image_drop(&reading.image, reading.image.mappings[GLIBC_IMAGE_TEXT].start,
        reading.image.mappings[GLIBC_IMAGE_TEXT].end);
    glibc_image_put(&reading.image,
        reading.image.parameters + reading.image.layout->parameters.tcache_bins, 0);
    glibc = read_image();
    assert_null(glibc->version);
    assert_int_equal(glibc->parameters.state, FACT_ABSENT);
    assert_int_equal(glibc->layout, GLIBC_LAYOUT_2_42);
    compare(&glibc->arenas[1], &reading.image.expected_second);
    assert_int_equal(glibc->mmapped_found_bytes.state, FACT_STALE);
    end();
}

static void tells_a_version_that_does_not_fit(void **state)
{
    (void)state;
    begin(GLIBC_LAYOUT_2_43);
    memcpy(reading.image.data[GLIBC_IMAGE_TEXT] + 100, "GLIBC_2.31", 10);
    assert_int_equal(read_image()->layout, GLIBC_LAYOUT_2_43);
    assert_string_equal(reading.process.glibc.version, "2.31");
    compare(&reading.process.glibc.arenas[0], &reading.image.expected_main);
    end();
}

static void is_absent_where_malloc_never_ran(void **state)
{
    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    memset(reading.image.data[GLIBC_IMAGE_DATA], 0, GLIBC_IMAGE_DATA_BYTES);
    assert_int_equal(read_image()->state, FACT_ABSENT);
    assert_non_null(reading.process.glibc.why);
    assert_int_equal(reading.process.glibc.arena_count, 0);
    end();
}

/* ---- hostile heaps */

/* Puts word at address and expects the main arena, or else the second, to be malformed. */
static void expect_malformed(uint64_t address, uint64_t word, bool main)
{
    const struct glibc_facts *glibc;

    glibc_image_put(&reading.image, address, word);
    glibc = read_image();
    assert_int_equal(glibc->arena_count, 2);
    assert_int_equal(glibc->arenas[main ? 0 : 1].state, FACT_MALFORMED);
    assert_non_null(glibc->arenas[main ? 0 : 1].why);
    assert_int_equal(glibc->arenas[main ? 1 : 0].state, FACT_OK);
    assert_int_equal(glibc->state, FACT_MALFORMED);
    assert_true(glibc->arenas[main ? 0 : 1].plus_minus_bytes > 0);
    end();
}

static void refuses_sizes_that_cannot_be(void **state)
{
    static const uint64_t sizes[] = {0, 1, 8 | 1, 0x28 | 1, UINT64_MAX - 14,
        UINT64_C(1) << 60 | 1, UINT64_C(1) << 45 | 1, GLIBC_IMAGE_MAIN_BYTES | 1,
        0x150 | GLIBC_IS_MMAPPED | 1};

    (void)state;
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
        begin(GLIBC_LAYOUT_2_30);
        expect_malformed(reading.image.main_last + 8, sizes[i], true);
    }
}

static void refuses_a_footer_that_tells_another_size(void **state)
{
    const struct glibc_image *image = &reading.image;

    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    expect_malformed(image->main_free + image->expected_main.free_bytes, 0x20, true);
}

static void refuses_tops_in_nowhere(void **state)
{
    static const uint64_t tops[] = {
        0, 8, 0x555550000010, 0x123456789000, UINT64_MAX - 15, UINT64_C(1) << 63};

    (void)state;
    for (size_t i = 0; i < sizeof(tops) / sizeof(tops[0]); i++) {
        begin(GLIBC_LAYOUT_2_35);
        expect_malformed(
            reading.image.main_arena + reading.image.layout->state.top, tops[i], true);
        begin(GLIBC_LAYOUT_2_43);
        expect_malformed(
            reading.image.second_arena + reading.image.layout->state.top, tops[i], false);
    }
}

static void refuses_heaps_that_lie(void **state)
{
    const uint64_t heap = 0x7f0040000000;

    (void)state;
    begin(GLIBC_LAYOUT_2_35); /* a chain that leads back to itself */
    expect_malformed(heap + 8, heap, false);
    begin(GLIBC_LAYOUT_2_35); /* larger than any heap */
    expect_malformed(heap + 16, UINT64_C(1) << 40, false);
    begin(GLIBC_LAYOUT_2_30);
    expect_malformed(heap + 16, 0, false);
    begin(GLIBC_LAYOUT_2_35); /* system_mem that the heaps do not add up to */
    expect_malformed(reading.image.second_arena + reading.image.layout->state.system_mem,
        GLIBC_IMAGE_HEAP_BYTES * UINT64_C(2), false);
    begin(GLIBC_LAYOUT_2_35);
    expect_malformed(
        reading.image.main_arena + reading.image.layout->state.system_mem, 4096, true);
}

static void ends_rings_that_never_close(void **state)
{
    const struct glibc_state_layout *layout = &glibc_layouts[GLIBC_LAYOUT_2_35].state;
    static const uint64_t nexts[] = {0, 0x7f0040000030, 0x7f0060010000, UINT64_MAX};

    (void)state;
    for (size_t i = 0; i < sizeof(nexts) / sizeof(nexts[0]); i++) {
        begin(GLIBC_LAYOUT_2_35);
        glibc_image_put(
            &reading.image, reading.image.second_arena + layout->next, nexts[i]);
        assert_int_equal(read_image()->state, FACT_MALFORMED);
        assert_non_null(reading.process.glibc.why);
        assert_in_range(reading.process.glibc.arena_count, 1, 2);
        compare(&reading.process.glibc.arenas[0], &reading.image.expected_main);
        end();
    }
}

/* Even when the only other arena is rubbish, main_arena is found at its right place. */
static void knows_main_arena_without_a_ring(void **state)
{
    static const enum glibc_layout_id layouts[] = {
        GLIBC_LAYOUT_2_26, GLIBC_LAYOUT_2_35, GLIBC_LAYOUT_2_43};

    (void)state;
    for (size_t i = 0; i < sizeof(layouts) / sizeof(layouts[0]); i++) {
        begin(layouts[i]);
        memset(reading.image.data[GLIBC_IMAGE_HEAP], 0xa5, GLIBC_IMAGE_HEAP_BYTES);
        assert_int_equal(read_image()->state, FACT_MALFORMED);
        assert_int_equal(reading.process.glibc.arena_count, 1);
        compare(&reading.process.glibc.arenas[0], &reading.image.expected_main);
        assert_int_equal(reading.process.glibc.layout, layouts[i]);
        end();
    }
}

/* Lists of freed blocks: loops, and pointers into nowhere. */
static void admits_torn_fast_bins(void **state)
{
    static const uint64_t links[] = {0, 1, 0x4141414141414140};

    (void)state;
    for (size_t i = 0; i < sizeof(links) / sizeof(links[0]); i++) {
        const struct glibc_arena *arena;
        begin(GLIBC_LAYOUT_2_30);
        glibc_image_put(&reading.image, reading.image.main_fast + 16,
            links[i] == 0 ? reading.image.main_fast : links[i]);
        arena = &read_image()->arenas[0];
        assert_int_equal(arena->state, FACT_STALE);
        assert_true(arena->plus_minus_bytes > 0);
        assert_non_null(arena->why);
        end();
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
        return reading.image.memory.operations->read(
            &reading.image.memory, address, data, bytes);
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
    return reading.image.memory.operations->pages(
        &reading.image.memory, address, count, bits);
}

static void reads_no_more_arenas_than_it_may(void **state)
{
    static const struct memory_operations operations = {
        .read = endless_read, .pages = endless_pages};
    struct memory endless = {.operations = &operations, .page_bytes = GLIBC_IMAGE_PAGE};

    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    glibc_image_put(&reading.image,
        reading.image.second_arena + reading.image.layout->state.next,
        endless_start + 0x30);
    glibc_image_process(&reading.image, &reading.process);
    assert_int_equal(glibc_read(&endless, &reading.region, &reading.process), 0);
    assert_int_equal(reading.process.glibc.state, FACT_MALFORMED);
    assert_int_equal(reading.process.glibc.arena_count, FACTS_MAX_ARENAS);
    compare(&reading.process.glibc.arenas[0], &reading.image.expected_main);
    end();
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
        begin(GLIBC_LAYOUT_2_35);
        fill_with_fast(&reading.image, steps[i]);
        read_image();
        compare(&reading.process.glibc.arenas[0], &reading.image.expected_main);
        compare(&reading.process.glibc.arenas[1], &reading.image.expected_second);
        end();
    }
}

/*
 * The link of the chunk at the end of a window is only in the next one, which then begins a
 * page below it: what the list leads to in that page has been passed.
 */
static void walks_again_for_chunks_seen_too_late(void **state)
{
    struct glibc_image *image = &reading.image;

    (void)state;
    for (uint64_t below = 1; below <= GLIBC_IMAGE_PAGE / FILLED_PAIR; below++) {
        begin(GLIBC_LAYOUT_2_35);
        const uint64_t last =
            image->main_first + HEAP_WINDOW_BYTES - GLIBC_CHUNK_HEADER_BYTES;
        cut(image, FILLED_PAIR + (last - main_top(image)) % FILLED_PAIR);
        const uint64_t start = cut_pairs(image);
        push_fast(image, last - below * FILLED_PAIR, FILLED_SMALL);
        push_fast(image, last, FILLED_SMALL);
        push_fast(image, start, FILLED_SMALL);
        read_image();
        compare(&reading.process.glibc.arenas[0], &image->expected_main);
        end();
    }
}

/* ---- a target that runs */

/* Every read: one block more is cut off the main top. */
static void take_from_top(struct glibc_image *image)
{
    const uint64_t field = image->main_arena + image->layout->state.top;
    const uint64_t top = glibc_image_get(image, field);
    const uint64_t left = glibc_image_get(image, top + 8) & ~UINT64_C(7);

    if (left > 0x1000) {
        glibc_image_put(image, top + 8, 0x40 | GLIBC_PREV_IN_USE);
        glibc_image_put(image, field, top + 0x40);
        glibc_image_put(image, top + 0x40 + 8, (left - 0x40) | GLIBC_PREV_IN_USE);
    }
}

static void take_for_a_while(struct glibc_image *image)
{
    enum { READS_UNTIL_QUIET = 60 };

    if (image->reads < READS_UNTIL_QUIET) {
        take_from_top(image);
    }
}

static void states_how_unsure_it_is_of_a_busy_arena(void **state)
{
    const struct glibc_arena *arena;
    uint64_t before, after;

    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    reading.image.before_read = take_from_top;
    before = reading.image.expected_main.in_use_bytes;
    arena = &read_image()->arenas[0];
    after = reading.image.expected_main.held_bytes -
            reading.image.expected_main.free_bytes -
            reading.image.expected_main.fast_bytes -
            (glibc_image_get(&reading.image,
                 glibc_image_get(&reading.image,
                     reading.image.main_arena + reading.image.layout->state.top) +
                     8) &
                ~UINT64_C(7));
    assert_true(after > before);
    assert_int_equal(arena->state, FACT_STALE);
    assert_non_null(arena->why);
    assert_true(arena->in_use_bytes + arena->plus_minus_bytes >= before);
    assert_true(arena->in_use_bytes <= after + arena->plus_minus_bytes);
    assert_true(arena->plus_minus_bytes > 0);
    /* The other arena stands still. */
    compare(&reading.process.glibc.arenas[1], &reading.image.expected_second);
    end();
}

/* One block is taken, at the read that change_at names. */
static uint64_t change_at;

static void take_once(struct glibc_image *image)
{
    if (image->reads == change_at) {
        take_from_top(image);
    }
}

/*
 * A single change at any moment: a figure called exact is of before or of after it; any
 * other states an uncertainty that covers both. Late changes are noticed by the last look.
 */
static void a_single_change_is_never_outside_the_uncertainty(void **state)
{
    enum { LAST_READ = 200, BLOCK = 0x40 };
    uint64_t noticed = 0;

    (void)state;
    for (change_at = 1; change_at < LAST_READ; change_at++) {
        const struct glibc_arena *arena;
        begin(GLIBC_LAYOUT_2_35);
        reading.image.before_read = take_once;
        arena = &read_image()->arenas[0];
        const uint64_t before = reading.image.expected_main.in_use_bytes;
        const uint64_t found = arena->in_use_bytes;
        if (arena->state == FACT_OK) {
            assert_true(found == before || found == before + BLOCK);
        } else {
            assert_int_equal(arena->state, FACT_STALE);
            assert_true(found + arena->plus_minus_bytes >= before + BLOCK);
            assert_true(found <= before + arena->plus_minus_bytes);
            noticed += found == before;
        }
        end();
    }
    assert_true(noticed > 0);
}

static void reads_again_until_it_stands_still(void **state)
{
    const struct glibc_arena *arena;

    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    reading.image.before_read = take_for_a_while;
    arena = &read_image()->arenas[0];
    assert_int_equal(arena->state, FACT_OK);
    assert_true(arena->in_use_bytes > reading.image.expected_main.in_use_bytes);
    assert_int_equal(arena->held_bytes, arena->in_use_bytes + arena->free_bytes +
                                            arena->fast_bytes + arena->top_bytes +
                                            arena->overhead_bytes);
    end();
}

static void does_not_call_a_locked_arena_damaged(void **state)
{
    (void)state;
    begin(GLIBC_LAYOUT_2_35);
    glibc_image_put(&reading.image, reading.image.main_arena, 1); /* the lock is held */
    glibc_image_put(&reading.image, reading.image.main_last + 8, 0);
    assert_int_equal(read_image()->arenas[0].state, FACT_STALE);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_every_layout_to_the_byte),
        cmocka_unit_test(predicts_the_trim_and_skips_absent_pages),
        cmocka_unit_test(works_without_mp_and_without_a_version),
        cmocka_unit_test(tells_a_version_that_does_not_fit),
        cmocka_unit_test(is_absent_where_malloc_never_ran),
        cmocka_unit_test(refuses_sizes_that_cannot_be),
        cmocka_unit_test(refuses_a_footer_that_tells_another_size),
        cmocka_unit_test(refuses_tops_in_nowhere),
        cmocka_unit_test(refuses_heaps_that_lie),
        cmocka_unit_test(ends_rings_that_never_close),
        cmocka_unit_test(knows_main_arena_without_a_ring),
        cmocka_unit_test(admits_torn_fast_bins),
        cmocka_unit_test(reads_no_more_arenas_than_it_may),
        cmocka_unit_test(follows_fast_bins_in_every_order),
        cmocka_unit_test(walks_again_for_chunks_seen_too_late),
        cmocka_unit_test(states_how_unsure_it_is_of_a_busy_arena),
        cmocka_unit_test(a_single_change_is_never_outside_the_uncertainty),
        cmocka_unit_test(reads_again_until_it_stands_still),
        cmocka_unit_test(does_not_call_a_locked_arena_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
