/*
 * test_glibc_fast_sweep.c - fast bins followed together, over a synthetic heap of two sizes of
 * chunks in turn: what is found, how much is read for it, and how damaged lists end.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/glibc_fast_sweep.h"
#include "facts/glibc_walk.h"
#include "flat_memory.h"

enum {
    PAGE = FLAT_MEMORY_PAGE,
    HEAP_BYTES = 8 << 20,
    SMALL = 0x20, /* chunks of bin 0 */
    LARGE = 0x30, /* chunks of bin 1, each above one of bin 0 */
    PAIR = SMALL + LARGE,
    PAIRS = HEAP_BYTES / PAIR,
    BOTH = 2,
    SLACK_BYTES = 1 << 20, /* first loads that grow, and the page map */
};

static const uint64_t heap_start = 0x7f0000000000;

enum order { ASCENDING, DESCENDING, RANDOM };

static struct {
    struct flat_memory flat;
    uint8_t data[HEAP_BYTES];
    uint8_t present[HEAP_BYTES / PAGE];
    struct glibc_reader reader;
    struct glibc_fast_set set;
    struct glibc_fast_sweep sweep;
    uint8_t state[GLIBC_STATE_MAXIMUM_BYTES];
} heap;

static void put(uint64_t address, uint64_t word)
{
    flat_memory_put(&heap.flat, address, word);
}

/* The chunk of the bin in the pair. */
static uint64_t chunk_of(uint32_t bin, uint64_t pair)
{
    return heap_start + pair * PAIR + (bin == 0 ? 0 : SMALL);
}

static void link_to(uint64_t chunk, uint64_t next)
{
    const uint64_t place = chunk + GLIBC_CHUNK_HEADER_BYTES;

    put(place, next ^ place >> 12);
}

static void set_head(uint32_t bin, uint64_t chunk)
{
    memcpy(heap.state + heap.reader.layout->state.fast_bins + bin * sizeof(chunk), &chunk,
        sizeof(chunk));
}

/* The pair that comes at place of a list; a stride that meets each pair once. */
static uint64_t pair_at(enum order order, uint64_t place)
{
    enum { STRIDE = 65537 };

    switch (order) {
    case ASCENDING:
        return place;
    case DESCENDING:
        return PAIRS - 1 - place;
    case RANDOM:
    default:
        return place * STRIDE % PAIRS;
    }
}

static void make_list(uint32_t bin, enum order order)
{
    for (uint64_t i = 0; i < PAIRS; i++) {
        const uint64_t chunk = chunk_of(bin, pair_at(order, i));
        put(chunk + 8, (uint64_t)(bin == 0 ? SMALL : LARGE) | GLIBC_PREV_IN_USE);
        link_to(chunk, i + 1 < PAIRS ? chunk_of(bin, pair_at(order, i + 1)) : 0);
    }
    set_head(bin, chunk_of(bin, pair_at(order, 0)));
}

static void begin(enum order small, enum order large)
{
    memset(&heap, 0, sizeof(heap));
    flat_memory_init(&heap.flat, heap_start, heap.data, heap.present, HEAP_BYTES);
    heap.reader = (struct glibc_reader){.memory = &heap.flat.memory,
        .layout = &glibc_layouts[GLIBC_LAYOUT_2_35],
        .sweep_bytes_left = UINT64_MAX,
        .links_left = UINT64_MAX};
    assert_int_equal(heap_window_init(&heap.reader.window, &heap.flat.memory), 0);
    assert_int_equal(glibc_fast_init(&heap.set), 0);
    make_list(0, small);
    make_list(1, large);
    glibc_fast_sweep_begin(&heap.sweep, &heap.reader, heap.state, &heap.set);
}

static void end(void)
{
    assert_false(heap.flat.touched_absent);
    glibc_fast_release(&heap.set);
    heap_window_release(&heap.reader.window);
}

static void sweep(void)
{
    assert_int_equal(glibc_fast_sweep_ahead(&heap.sweep), 0);
    assert_int_equal(glibc_fast_sweep_finish(&heap.sweep), 0);
    assert_true(glibc_fast_sweep_ended(&heap.sweep));
}

static void expect_all(void)
{
    assert_false(heap.sweep.torn);
    assert_int_equal(heap.sweep.cut_bins, 0);
    assert_int_equal(heap.set.count, BOTH * PAIRS);
    assert_int_equal(heap.set.bytes, (uint64_t)PAIRS * PAIR);
    for (uint64_t pair = 0; pair < PAIRS; pair++) {
        assert_true(glibc_fast_has(&heap.set, chunk_of(0, pair)));
        assert_true(glibc_fast_has(&heap.set, chunk_of(1, pair)));
        assert_false(glibc_fast_has(&heap.set, chunk_of(0, pair) + GLIBC_CHUNK_ALIGN));
    }
}

/* Lists of one direction cost one pass together; of both, one each. */
static void reads_once_for_each_direction(void **state)
{
    static const struct {
        enum order small, large;
        uint64_t passes;
    } cases[] = {{ASCENDING, ASCENDING, 1}, {DESCENDING, DESCENDING, 1},
        {ASCENDING, DESCENDING, 2}, {DESCENDING, ASCENDING, 2}};

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        begin(cases[i].small, cases[i].large);
        sweep();
        expect_all();
        assert_in_range(
            heap.flat.memory.bytes_read, 1, cases[i].passes * HEAP_BYTES + SLACK_BYTES);
        end();
    }
}

/* As the walk does it: window after window, from the lowest on. */
static void show_all(void)
{
    const uint64_t step = HEAP_WINDOW_BYTES - PAGE;

    for (uint64_t at = heap_start; at < heap_start + HEAP_BYTES; at += step) {
        assert_int_equal(
            heap_window_load(&heap.reader.window, at, heap_start + HEAP_BYTES), 0);
        assert_int_equal(glibc_fast_sweep_view(&heap.sweep, at), 0);
    }
}

static void leaves_lists_that_ascend_to_the_walk(void **state)
{
    (void)state;
    begin(ASCENDING, DESCENDING);
    assert_int_equal(glibc_fast_sweep_ahead(&heap.sweep), 0);
    assert_int_equal(
        glibc_fast_sweep_waiting(&heap.sweep, heap_start, heap_start + HEAP_BYTES), 1);
    show_all();
    assert_true(glibc_fast_sweep_ended(&heap.sweep));
    assert_false(heap.sweep.late);
    expect_all();
    end();
}

static void tells_what_came_too_late_for_the_walk(void **state)
{
    const uint64_t last = chunk_of(0, PAIRS - 1);

    (void)state;
    begin(ASCENDING, ASCENDING);
    /* The second chunk of the list lies below the first; both are in the last window. */
    set_head(0, last);
    link_to(last, chunk_of(0, PAIRS - 2));
    link_to(chunk_of(0, PAIRS - 2), 0);
    glibc_fast_sweep_begin(&heap.sweep, &heap.reader, heap.state, &heap.set);
    assert_int_equal(
        heap_window_load(&heap.reader.window, last - PAGE, heap_start + HEAP_BYTES), 0);
    assert_int_equal(glibc_fast_sweep_view(&heap.sweep, last), 0);
    assert_true(heap.sweep.late);
    end();
}

static void bounds_what_lists_in_random_order_cost(void **state)
{
    enum { BUDGET_BYTES = 4 << 20 };

    (void)state;
    begin(RANDOM, RANDOM);
    sweep();
    expect_all();
    end();
    begin(ASCENDING, RANDOM);
    heap.reader.sweep_bytes_left = 2 * HEAP_BYTES + BUDGET_BYTES;
    sweep();
    assert_false(heap.sweep.torn);
    assert_int_equal(heap.sweep.cut_bins, 1 << 1);
    assert_int_equal(glibc_fast_sweep_cut_sizes(&heap.sweep),
        UINT64_C(1) << LARGE / GLIBC_CHUNK_ALIGN);
    assert_in_range(heap.set.count, PAIRS, BOTH * PAIRS - 1);
    assert_in_range(
        heap.flat.memory.bytes_read, 1, 2 * HEAP_BYTES + BUDGET_BYTES + SLACK_BYTES);
    end();
    begin(ASCENDING, ASCENDING);
    heap.reader.links_left = PAIRS;
    sweep();
    assert_int_equal(heap.set.count, PAIRS);
    assert_true(heap.sweep.cut_bins != 0);
    end();
}

/* Chunks of a size whose list was cut may be free, unless what they hold is no link. */
static void bounds_what_a_cut_list_hides(void **state)
{
    enum { BUDGET_BYTES = 4 << 20, FENCE_BYTES = 16 };
    struct glibc_samples samples = {0};
    const uint64_t fence = heap_start + (uint64_t)PAIRS * PAIR;
    uint64_t in_use = 0, listed;

    (void)state;
    begin(ASCENDING, RANDOM);
    heap.reader.sweep_bytes_left = 2 * HEAP_BYTES + BUDGET_BYTES;
    sweep();
    listed = heap.set.count - PAIRS;
    while (glibc_fast_has(&heap.set, chunk_of(1, in_use))) {
        in_use++;
    }
    put(chunk_of(1, in_use) + GLIBC_CHUNK_HEADER_BYTES, 0x7878787878787878);
    put(fence + 8, GLIBC_PREV_IN_USE);
    heap.reader.loads_left = HEAP_BYTES / HEAP_WINDOW_BYTES + 1;
    struct glibc_walk walk = {.reader = &heap.reader,
        .sweep = &heap.sweep,
        .hidden_sizes = glibc_fast_sweep_cut_sizes(&heap.sweep),
        .lowest = heap_start,
        .highest = heap_start + HEAP_BYTES,
        .samples = &samples};
    const struct glibc_extent extent = {
        .start = heap_start, .base = heap_start, .end = fence + FENCE_BYTES};
    glibc_samples_begin(&samples, HEAP_BYTES);
    assert_int_equal(glibc_walk_extent(&walk, &extent), 0);
    assert_int_equal(walk.position.sums.fast_chunks, heap.set.count);
    assert_int_equal(walk.position.sums.fast_bytes, heap.set.bytes);
    assert_int_equal(walk.position.sums.hidden_bytes, (PAIRS - listed - 1) * LARGE);
    glibc_samples_release(&samples);
    end();
}

static void ends_lists_that_are_torn(void **state)
{
    const uint64_t middle = chunk_of(0, PAIRS / 2);
    const uint64_t nexts[] = {middle, chunk_of(1, PAIRS - 9), 8, 16, chunk_of(0, 5) + 8,
        heap_start + HEAP_BYTES, heap_start + HEAP_BYTES - 16, UINT64_C(1) << 63,
        UINT64_MAX, UINT64_MAX - 15, 0x4141414141414140};

    (void)state;
    for (size_t i = 0; i < BOTH * sizeof(nexts) / sizeof(nexts[0]); i++) {
        begin(i % BOTH == 0 ? ASCENDING : DESCENDING, DESCENDING);
        link_to(middle, nexts[i / BOTH]);
        sweep();
        assert_true(heap.sweep.torn);
        end();
        begin(ASCENDING, DESCENDING);
        set_head(0, nexts[i / BOTH] == middle ? UINT64_MAX : nexts[i / BOTH]);
        glibc_fast_sweep_begin(&heap.sweep, &heap.reader, heap.state, &heap.set);
        sweep();
        assert_true(heap.sweep.torn);
        end();
    }
}

/* One whose link alone is absent would look like the last, without mangled links. */
static void takes_absent_pages_for_no_end(void **state)
{
    static struct glibc_layout plain;
    const uint64_t chunk = heap_start + 4 * PAGE - GLIBC_CHUNK_HEADER_BYTES;

    (void)state;
    begin(ASCENDING, ASCENDING);
    plain = *heap.reader.layout;
    plain.mangled_links = false;
    heap.reader.layout = &plain;
    put(chunk + 8, SMALL | GLIBC_PREV_IN_USE);
    heap.present[4] = 0;
    set_head(0, chunk);
    set_head(1, 0);
    glibc_fast_sweep_begin(&heap.sweep, &heap.reader, heap.state, &heap.set);
    sweep();
    assert_true(heap.sweep.torn);
    assert_int_equal(heap.set.count, 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_once_for_each_direction),
        cmocka_unit_test(leaves_lists_that_ascend_to_the_walk),
        cmocka_unit_test(tells_what_came_too_late_for_the_walk),
        cmocka_unit_test(bounds_what_lists_in_random_order_cost),
        cmocka_unit_test(bounds_what_a_cut_list_hides),
        cmocka_unit_test(ends_lists_that_are_torn),
        cmocka_unit_test(takes_absent_pages_for_no_end),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
