/*
 * test_glibc_movement.c - a heap that changes while it is walked, and after: where the walk goes
 * on, and what the second look says of it.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/glibc_state.h"
#include "facts/glibc_walk.h"
#include "flat_memory.h"

enum {
    PAGE = FLAT_MEMORY_PAGE,
    HEAP_BYTES = 8 << 20,
    CHUNK = 0x410, /* straddles windows and pages */
    CHUNKS = (HEAP_BYTES - PAGE) / CHUNK - 2,
    FENCE = 16,
    STATE_BYTES = PAGE, /* the malloc_state has the first page */
};

static const uint64_t heap_start = 0x7f0000000000;

static struct {
    struct flat_memory flat;
    uint8_t data[HEAP_BYTES];
    uint8_t present[HEAP_BYTES / PAGE];
    uint64_t loads;
    void (*before_load)(void);
    struct glibc_reader reader;
    struct glibc_fast_set set;
    struct glibc_fast_sweep sweep;
    struct glibc_samples samples;
    struct glibc_walk walk;
    uint8_t state[GLIBC_STATE_MAXIMUM_BYTES];
    const struct glibc_holes *holes;
} heap;

/* A window is loaded by a read of more than a page. */
static void count_load(size_t bytes)
{
    if (bytes > PAGE) {
        heap.loads++;
        if (heap.before_load != NULL) {
            heap.before_load();
        }
    }
}

static void put(uint64_t address, uint64_t word)
{
    flat_memory_put(&heap.flat, address, word);
}

static uint64_t chunk_at(uint64_t number)
{
    return heap_start + STATE_BYTES + number * CHUNK;
}

/* The chunks from first on, count of them, are one chunk, in use. */
static void take(uint64_t first, uint64_t count)
{
    put(chunk_at(first) + 8, count * CHUNK | GLIBC_PREV_IN_USE);
    put(chunk_at(first + count) + 8, CHUNK | GLIBC_PREV_IN_USE);
}

/* ... and free; the one above is in use. */
static void set_free(uint64_t first, uint64_t count)
{
    take(first, count);
    put(chunk_at(first + count), count * CHUNK);
    put(chunk_at(first + count) + 8, CHUNK);
}

static void end_with_fence(uint64_t chunk)
{
    put(chunk + 8, FENCE | GLIBC_PREV_IN_USE);
}

static void begin(uint64_t held)
{
    memset(&heap, 0, sizeof(heap));
    flat_memory_init(&heap.flat, heap_start, heap.data, heap.present, HEAP_BYTES);
    heap.flat.before_read = count_load;
    heap.reader = (struct glibc_reader){.memory = &heap.flat.memory,
        .layout = &glibc_layouts[GLIBC_LAYOUT_2_35],
        .loads_left = 1 << 10,
        .sweep_bytes_left = UINT64_MAX,
        .links_left = UINT64_MAX};
    assert_int_equal(heap_window_init(&heap.reader.window, &heap.flat.memory), 0);
    assert_int_equal(glibc_fast_init(&heap.set), 0);
    for (uint64_t i = 0; i < CHUNKS; i++) {
        put(chunk_at(i) + 8, CHUNK | GLIBC_PREV_IN_USE);
    }
    assert_int_equal(glibc_state_read(&heap.reader, heap_start, heap.state), 0);
    glibc_fast_sweep_begin(&heap.sweep, &heap.reader, heap.state, &heap.set);
    glibc_samples_begin(&heap.samples, held);
}

static void end(void)
{
    glibc_samples_release(&heap.samples);
    glibc_fast_release(&heap.set);
    heap_window_release(&heap.reader.window);
}

/* Walks the extent, which ends with top unless that is 0. */
static int walk_extent(const struct glibc_extent *extent, uint64_t top)
{
    heap.walk = (struct glibc_walk){.reader = &heap.reader,
        .arena = heap_start,
        .state = heap.state,
        .sweep = &heap.sweep,
        .lowest = heap_start,
        .highest = heap_start + HEAP_BYTES,
        .top = top,
        .top_bytes = top == 0 ? 0 : extent->end - top,
        .rewinds_left = GLIBC_WALK_REWINDS,
        .places_left = GLIBC_WALK_PLACES,
        .samples = &heap.samples,
        .holes = heap.holes};
    return glibc_walk_extent(&heap.walk, extent);
}

/* Walks the first chunks of the heap. */
static int walk(uint64_t chunks)
{
    const struct glibc_extent extent = {
        .base = heap_start, .start = chunk_at(0), .end = chunk_at(chunks) + FENCE};

    end_with_fence(chunk_at(chunks));
    return walk_extent(&extent, 0);
}

static struct glibc_movement look_again(uint64_t held)
{
    struct glibc_movement movement;

    assert_int_equal(
        glibc_samples_compare(&heap.samples, &heap.reader, held, &movement), 0);
    assert_true(movement.known);
    return movement;
}

static void what_rests_has_not_moved(void **state)
{
    (void)state;
    begin(HEAP_BYTES);
    set_free(100, 1);
    set_free(1000, 3000);
    assert_int_equal(walk(CHUNKS - 1), 0);
    assert_int_equal(heap.walk.position.sums.free_bytes, 3001 * CHUNK);
    heap.loads = 0;
    heap.flat.memory.bytes_read = 0;
    const struct glibc_movement movement = look_again(HEAP_BYTES);
    assert_false(movement.seen);
    assert_int_equal(heap.flat.memory.bytes_read,
        heap.samples.count * (GLIBC_SAMPLE_STRIDE_BYTES / GLIBC_SAMPLE_SHARE));
    assert_int_equal(movement.bytes, GLIBC_SAMPLE_STRIDE_BYTES);
    assert_true(heap.loads <= HEAP_BYTES / GLIBC_SAMPLE_STRIDE_BYTES);
    end();
}

/* Every fourth block is freed after the walk: an eighth of the memory tells it of all. */
static void a_part_stands_for_the_whole(void **state)
{
    uint64_t freed = 0;

    (void)state;
    begin(HEAP_BYTES);
    assert_int_equal(walk(CHUNKS - 1), 0);
    for (uint64_t i = 2; i + 4 < CHUNKS; i += 4) {
        set_free(i, 1);
        freed += CHUNK;
    }
    const struct glibc_movement movement = look_again(HEAP_BYTES);
    assert_true(movement.seen);
    assert_true(movement.bytes >= freed / 4 * 3);
    assert_true(movement.bytes <= freed / 4 * 5 + GLIBC_SAMPLE_STRIDE_BYTES);
    end();
}

static void all_of_a_small_arena_is_looked_at(void **state)
{
    const uint64_t chunks = GLIBC_SAMPLE_WHOLE_BYTES / CHUNK - 1;

    (void)state;
    for (uint64_t i = 1; i < chunks; i += 7) {
        begin(GLIBC_SAMPLE_WHOLE_BYTES);
        assert_int_equal(walk(chunks), 0);
        set_free(i - 1, 1);
        const struct glibc_movement movement = look_again(chunks * CHUNK);
        assert_int_equal(movement.bytes, CHUNK);
        end();
    }
}

/* A large free chunk that is used up from below is seen as what it is, and not eight times. */
static void large_chunks_are_not_scaled_up(void **state)
{
    enum { TAKEN = 300 };

    (void)state;
    for (uint64_t first = 1000; first < 1130; first += 13) {
        begin(HEAP_BYTES);
        set_free(first, 3000);
        assert_int_equal(walk(CHUNKS - 1), 0);
        set_free(first + TAKEN, 3000 - TAKEN);
        take(first, TAKEN);
        const struct glibc_movement movement = look_again(HEAP_BYTES);
        assert_int_equal(
            movement.bytes, GLIBC_SAMPLE_STRIDE_BYTES + (uint64_t)TAKEN * CHUNK);
        end();
    }
}

/* What was merged after the walk begins elsewhere: only what cannot be told is lost. */
static void finds_chunks_again_in_a_stretch(void **state)
{
    (void)state;
    begin(HEAP_BYTES);
    assert_int_equal(walk(CHUNKS - 1), 0);
    for (size_t i = 1; i < heap.samples.count; i++) {
        const uint64_t number =
            (heap.samples.items[i].at - heap_start - STATE_BYTES) / CHUNK;
        take(number - 1, 2);
        put(chunk_at(number) + 8, 0x7878787878787878);
    }
    const struct glibc_movement movement = look_again(HEAP_BYTES);
    assert_true(movement.seen);
    assert_true(movement.bytes < HEAP_BYTES / 8);
    end();
}

/* Where a block was, there are now thousands of chunks, each with a free one of 64 TiB below. */
static void forged_sizes_move_no_more_than_there_is(void **state)
{
    enum { BLOCK = 3000, STEP = 32 };

    (void)state;
    for (uint64_t first = 1000; first < 1130; first += 13) {
        begin(HEAP_BYTES);
        take(first, BLOCK);
        take(first + BLOCK, BLOCK);
        assert_int_equal(walk(CHUNKS - 1), 0);
        for (uint64_t at = chunk_at(first); at < chunk_at(first + 2 * BLOCK);
             at += STEP) {
            const bool is_first = at == chunk_at(first) || at == chunk_at(first + BLOCK);
            put(at, glibc_maximum_bytes);
            put(at + 8, STEP | (is_first ? GLIBC_PREV_IN_USE : 0));
        }
        assert_true(look_again(HEAP_BYTES).bytes <= 2 * (uint64_t)HEAP_BYTES);
        end();
    }
}

/* What is free below the largest run and above it, since the blocks above may pin it. */
static void free_bytes_below_the_largest_run(void **state)
{
    const struct glibc_sums *sums = &heap.walk.position.sums;

    (void)state;
    begin(HEAP_BYTES);
    set_free(2, 3);
    set_free(10, 50);
    set_free(70, 20);
    assert_int_equal(walk(CHUNKS - 1), 0);
    assert_int_equal(sums->largest_run_start, chunk_at(10));
    assert_int_equal(sums->largest_run_before_bytes, 3 * CHUNK);
    end();
}

/* ---- holes */

enum { HOLE = 1100, HOLE_CHUNKS = 1500, SMALL_HOLE = 3000, BINS_LARGE = 125 };

/* Two free chunks in the bins of their sizes; the one that is too small is no hole. */
static void list_holes(void)
{
    const uint64_t bins = heap_start + heap.reader.layout->state.bins;

    for (uint64_t i = 0; i < GLIBC_BIN_COUNT; i++) {
        put(bins + i * GLIBC_BIN_BYTES, bins + i * GLIBC_BIN_BYTES - 16);
    }
    put(bins + BINS_LARGE * GLIBC_BIN_BYTES, chunk_at(HOLE));
    put(chunk_at(HOLE) + 16, bins + BINS_LARGE * GLIBC_BIN_BYTES - 16);
    put(bins + (BINS_LARGE - 1) * GLIBC_BIN_BYTES, chunk_at(SMALL_HOLE));
    put(chunk_at(SMALL_HOLE) + 16, 0x7878787878787878);
    assert_int_equal(glibc_state_read(&heap.reader, heap_start, heap.state), 0);
}

static int find_holes(struct glibc_holes *holes)
{
    return glibc_holes_find(
        holes, &heap.reader, heap_start, heap.state, heap_start, heap_start + HEAP_BYTES);
}

/* The same figures, and the inside of a large free chunk is not read. */
static void the_inside_of_a_large_free_chunk_is_not_read(void **state)
{
    struct glibc_holes holes = {.items = NULL};
    struct glibc_sums without;
    uint64_t read;

    (void)state;
    begin(HEAP_BYTES);
    set_free(HOLE, HOLE_CHUNKS);
    set_free(SMALL_HOLE, 4);
    list_holes();
    assert_int_equal(find_holes(&holes), 0);
    assert_int_equal(holes.count, 1);
    assert_true(holes.items[0].start >= chunk_at(HOLE) + GLIBC_CHUNK_HEADER_BYTES);
    assert_true(holes.items[0].end <= chunk_at(HOLE + HOLE_CHUNKS));
    heap.holes = NULL;
    heap.flat.memory.bytes_read = 0;
    assert_int_equal(walk(CHUNKS - 1), 0);
    without = heap.walk.position.sums;
    read = heap.flat.memory.bytes_read;
    heap.holes = &holes;
    heap.flat.memory.bytes_read = 0;
    glibc_samples_begin(&heap.samples, HEAP_BYTES);
    assert_int_equal(walk(CHUNKS - 1), 0);
    assert_memory_equal(&heap.walk.position.sums, &without, sizeof(without));
    assert_true(heap.flat.memory.bytes_read + HEAP_WINDOW_BYTES / 2 < read);
    assert_true(heap.flat.memory.bytes_read <=
                HEAP_BYTES - (uint64_t)HOLE_CHUNKS * CHUNK + 3 * (uint64_t)PAGE);
    glibc_holes_release(&holes);
    end();
}

/*
 * The chunk was cut up since it was listed; chunks lie in the hole, and one has its header in the
 * last bytes before it.
 */
static void holes_that_were_filled_are_walked(void **state)
{
    struct glibc_hole stale[] = {{.start = heap_start + (UINT64_C(1) << 20)},
        {.start = heap_start + (UINT64_C(2) << 20)}};
    const struct glibc_holes holes = {.items = stale, .count = 2};

    (void)state;
    for (uint64_t shift = 0; shift <= PAGE; shift += GLIBC_CHUNK_ALIGN) {
        begin(HEAP_BYTES);
        put(chunk_at(0) + 8, (CHUNK + shift) | GLIBC_PREV_IN_USE);
        for (uint64_t i = 1; i < CHUNKS - 8; i++) {
            put(chunk_at(i) + shift + 8, CHUNK | GLIBC_PREV_IN_USE);
        }
        heap.holes = &holes;
        heap.reader.loads_left = 64;
        put(chunk_at(CHUNKS - 9) + shift + 8, (8 * CHUNK - shift) | GLIBC_PREV_IN_USE);
        assert_int_equal(walk(CHUNKS - 1), 0);
        assert_int_equal(heap.walk.position.sums.gap_bytes, 0);
        assert_int_equal(heap.walk.position.sums.chunks, CHUNKS - 8);
        end();
    }
}

/* A list that leads nowhere, and one that is a ring without its head. */
static void lists_of_holes_may_lie(void **state)
{
    struct glibc_holes holes = {.items = NULL};

    (void)state;
    begin(HEAP_BYTES);
    set_free(HOLE, HOLE_CHUNKS);
    list_holes();
    put(chunk_at(HOLE) + 16, 0x7878787878787878);
    assert_int_equal(find_holes(&holes), 0);
    assert_int_equal(holes.count, 1);
    put(chunk_at(HOLE) + 16, chunk_at(HOLE));
    assert_int_equal(find_holes(&holes), 0);
    assert_int_equal(holes.count, HEAP_BYTES / (HOLE_CHUNKS * CHUNK));
    glibc_holes_release(&holes);
    end();
}

/* ---- while it is walked */

/* Ahead of the second window: the block across its edge takes in the one above. */
static void merge_at_the_edge(void)
{
    const uint64_t edge = heap_start + STATE_BYTES + HEAP_WINDOW_BYTES;
    const uint64_t number = (edge - heap_start - STATE_BYTES - 32) / CHUNK;

    if (heap.loads == 2) {
        take(number, 2);
        put(chunk_at(number + 1) + 8, 0x7878787878787878);
    }
}

static void merge_and_tell(void)
{
    merge_at_the_edge();
    put(heap_start + heap.reader.layout->state.bins, heap.loads);
}

enum { LAST = CHUNKS - 2 };

static void set_top(uint64_t top)
{
    put(heap_start + heap.reader.layout->state.top, top);
    put(top + 8, (heap_start + HEAP_BYTES - top) | GLIBC_PREV_IN_USE);
}

/* Ahead of the last window: the last block is freed, and becomes a part of top. */
static void give_back_the_last(void)
{
    if (heap.loads == HEAP_BYTES / HEAP_WINDOW_BYTES) {
        set_top(chunk_at(LAST - 1));
    }
}

static void a_block_given_back_to_top_ends_the_walk(void **state)
{
    const struct glibc_extent extent = {.base = heap_start,
        .start = chunk_at(0),
        .end = heap_start + HEAP_BYTES,
        .has_top = true};

    (void)state;
    begin(HEAP_BYTES);
    set_top(chunk_at(LAST));
    heap.before_load = give_back_the_last;
    assert_int_equal(walk_extent(&extent, chunk_at(LAST)), 0);
    assert_int_equal(heap.walk.stop, chunk_at(LAST - 1));
    assert_int_equal(heap.walk.top_bytes, heap_start + HEAP_BYTES - chunk_at(LAST - 1));
    assert_int_equal(heap.walk.position.sums.chunks, LAST - 1);
    assert_int_equal(heap.walk.position.sums.gap_bytes, 0);
    assert_int_equal(heap.walk.rewinds_left, GLIBC_WALK_REWINDS);
    end();
}

static void goes_on_behind_what_changed(void **state)
{
    const uint64_t windows = HEAP_BYTES / HEAP_WINDOW_BYTES;

    (void)state;
    begin(HEAP_BYTES);
    heap.before_load = merge_and_tell;
    assert_int_equal(walk(CHUNKS - 1), 0);
    assert_int_equal(heap.walk.rewinds_left, GLIBC_WALK_REWINDS);
    assert_true(heap.loads <= windows + 1);
    assert_int_equal(heap.walk.position.sums.gap_bytes, 2 * CHUNK);
    assert_int_equal(heap.walk.position.sums.free_bytes, 0);
    end();
}

/* While the header is the same the reading may still become exact. */
static void reads_again_what_has_not_moved(void **state)
{
    (void)state;
    begin(HEAP_BYTES);
    heap.before_load = merge_at_the_edge;
    assert_int_equal(walk(CHUNKS - 1), 0);
    assert_true(heap.walk.rewinds_left < GLIBC_WALK_REWINDS);
    assert_int_equal(heap.walk.position.sums.gap_bytes, 0);
    assert_int_equal(heap.walk.position.sums.chunks, CHUNKS - 2);
    end();
}

/* Ahead of the second window everything from there on is overwritten. */
static void wipe_and_tell(void)
{
    if (heap.loads == 2) {
        memset(heap.data + HEAP_WINDOW_BYTES + STATE_BYTES, 0x78,
            HEAP_BYTES - HEAP_WINDOW_BYTES - STATE_BYTES);
    }
    put(heap_start + heap.reader.layout->state.bins, heap.loads);
}

static void gives_up_where_nothing_fits(void **state)
{
    (void)state;
    begin(HEAP_BYTES);
    heap.before_load = wipe_and_tell;
    assert_int_equal(walk(CHUNKS - 1), -EAGAIN);
    assert_true(heap.loads <= 2 * HEAP_BYTES / HEAP_WINDOW_BYTES);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_has_not_moved),
        cmocka_unit_test(a_part_stands_for_the_whole),
        cmocka_unit_test(all_of_a_small_arena_is_looked_at),
        cmocka_unit_test(large_chunks_are_not_scaled_up),
        cmocka_unit_test(finds_chunks_again_in_a_stretch),
        cmocka_unit_test(forged_sizes_move_no_more_than_there_is),
        cmocka_unit_test(free_bytes_below_the_largest_run),
        cmocka_unit_test(a_block_given_back_to_top_ends_the_walk),
        cmocka_unit_test(goes_on_behind_what_changed),
        cmocka_unit_test(reads_again_what_has_not_moved),
        cmocka_unit_test(gives_up_where_nothing_fits),
        cmocka_unit_test(the_inside_of_a_large_free_chunk_is_not_read),
        cmocka_unit_test(holes_that_were_filled_are_walked),
        cmocka_unit_test(lists_of_holes_may_lie),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
