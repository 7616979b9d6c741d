/* test_zend_heap.c - layouts of real builds, exact sums, heaps in motion, hostile heaps. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/zend.h"
#include "facts/zend_heap.h"
#include "zend_image.h"

/* Offsets measured on these builds. */
static const struct zend_image_build builds[] = {
    {"7.4.33, 8.2.32", 0x110, 0, 0x138, 0x1c8},
    {"8.2.36-1~deb12u1", 0x110, 0x128, 0x148, 0x1e0},
    {"8.4.27-1~deb13u1", 0x118, 0x130, 0x150, 0x230},
};

static const struct zend_image_build *const stock = &builds[1];

static int find_layout(struct zend_image *image, struct zend_layout *layout)
{
    return zend_layout_find(
        &image->memory, image->base, zend_image_at(image, image->base), layout);
}

static void read_heap(
    struct zend_image *image, struct region *region, struct zend_heap_facts *heap)
{
    struct zend_layout layout;
    struct zend_pieces pieces;

    region_init(region, 1 << 20);
    assert_int_equal(find_layout(image, &layout), 0);
    assert_int_equal(
        zend_heap_read(&image->memory, image->base, &layout, region, heap, &pieces), 0);
}

static void the_layout_of_each_known_build_is_found_from_the_heap(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(builds) / sizeof(builds[0]); i++) {
        struct zend_image image;
        struct zend_layout layout;
        zend_image_open(&image, &builds[i]);
        assert_int_equal(find_layout(&image, &layout), 0);
        assert_int_equal(layout.real_size, builds[i].real_size);
        assert_int_equal(layout.hard_limit, builds[i].hard_limit);
        assert_int_equal(layout.main_chunk, builds[i].main_chunk);
        assert_int_equal(layout.free_map, builds[i].free_map);
        assert_int_equal(layout.free_slots, builds[i].real_size - 240);
        zend_image_close(&image);
    }
}

static uint64_t sum_of_parts(const struct zend_heap_facts *heap)
{
    return heap->small_live_bytes + heap->small_free_bytes + heap->run_tail_bytes +
           (heap->large_pages + heap->free_pages + heap->chunks) * ZEND_PAGE_BYTES +
           heap->cached_chunks * ZEND_CHUNK_BYTES + heap->huge_bytes;
}

/* One run of bin 24 (1280 bytes, 16 blocks, 5 pages) with three blocks in use. */
static void fill_heap(struct zend_image *image)
{
    uint64_t run = image->base + 10 * ZEND_PAGE_BYTES;
    uint64_t slot = zend_image_heap(image) + image->build->real_size - 240 + 24 * 8;

    zend_image_small(image, 0, 10, 24);
    zend_image_use(image, 3 * 1280);
    zend_image_word(image, slot, run + 3 * 1280);
    for (uint64_t block = 3; block < 16; block++) {
        zend_image_word(
            image, run + block * 1280, block == 15 ? 0 : run + (block + 1) * 1280);
    }
    zend_image_large(image, 1, 1, 256);
    zend_image_large(image, 2, 1, 171);
}

static void every_byte_of_real_is_in_one_part(void **state)
{
    struct zend_image image;
    struct region region;
    struct zend_heap_facts heap;

    (void)state;
    zend_image_open(&image, stock);
    fill_heap(&image);
    read_heap(&image, &region, &heap);
    assert_int_equal(heap.state, FACT_OK);
    assert_int_equal(heap.deep_state, FACT_OK);
    assert_int_equal(sum_of_parts(&heap), heap.real_bytes);
    assert_int_equal(heap.used_bytes, 3 * 1280 + (256 + 171) * ZEND_PAGE_BYTES);
    assert_int_equal(heap.small_live_bytes, 3 * 1280);
    assert_int_equal(heap.small_free_bytes, 13 * 1280);
    assert_int_equal(heap.bins[24].free_blocks, 13);
    assert_int_equal(heap.half_chunks, 1);
    assert_int_equal(heap.third_chunks, 1);
    assert_int_equal(heap.gc_bytes, 0);
    assert_int_equal(heap.largest_free_pages, 511 - 10 - 4 + 0);
    assert_int_equal(heap.limit_bytes.value, 128 << 20);
    assert_int_equal(heap.hard_limit_bytes.value, 256 << 20);
    region_release(&region);
    zend_image_close(&image);
}

/* What fills its chunk keeps nothing else out of it. */
static void a_full_chunk_is_no_cliff(void **state)
{
    struct zend_image image;
    struct region region;
    struct zend_heap_facts heap;

    (void)state;
    zend_image_open(&image, stock);
    zend_image_large(&image, 1, 1, 511);
    zend_image_large(&image, 2, 1, 384);
    read_heap(&image, &region, &heap);
    assert_int_equal(heap.state, FACT_OK);
    assert_int_equal(heap.half_chunks, 1);
    region_release(&region);
    zend_image_close(&image);
}

/* All blocks of so many pages of bin 0 are free, and each is on another page than the next. */
static void a_list_through_all_pages_reads_each_about_once(void **state)
{
    enum { FIRST_PAGE = 10, RUNS = 400, BLOCKS = 512, BLOCK_BYTES = 8 };
    struct zend_image image;
    struct region region;
    struct zend_heap_facts heap;

    (void)state;
    zend_image_open(&image, stock);
    uint64_t slot = zend_image_heap(&image) + stock->real_size - 240;
    uint64_t first = image.base + (uint64_t)FIRST_PAGE * ZEND_PAGE_BYTES;
    uint64_t previous = slot;
    for (uint32_t run = 0; run < RUNS; run++) {
        zend_image_small(&image, 0, FIRST_PAGE + run, 0);
    }
    for (uint64_t i = 0; i < RUNS * BLOCKS; i++) {
        uint64_t at = first + i % RUNS * ZEND_PAGE_BYTES + i / RUNS * BLOCK_BYTES;
        zend_image_word(&image, previous, at);
        previous = at;
    }
    zend_image_word(&image, previous, 0);
    read_heap(&image, &region, &heap);
    assert_int_equal(heap.deep_state, FACT_OK);
    assert_int_equal(heap.bins[0].free_blocks, RUNS * BLOCKS);
    assert_int_equal(heap.gc_bytes, RUNS * ZEND_PAGE_BYTES);
    assert_in_range(image.memory.bytes_read, RUNS * ZEND_PAGE_BYTES,
        (uint64_t)RUNS * ZEND_PAGE_BYTES * 3 / 2 + 16 * ZEND_PAGE_BYTES);
    region_release(&region);
    zend_image_close(&image);
}

static void a_collection_is_predicted_from_complete_runs(void **state)
{
    struct zend_image image;
    struct region region;
    struct zend_heap_facts heap;
    uint64_t run;

    (void)state;
    zend_image_open(&image, stock);
    /* chunk 2 holds nothing but one run of bin 29 (3072 bytes, 4 blocks, 3 pages), all free */
    run = image.base + 2 * (uint64_t)ZEND_CHUNK_BYTES + ZEND_PAGE_BYTES;
    zend_image_small(&image, 2, 1, 29);
    zend_image_word(
        &image, zend_image_heap(&image) + image.build->real_size - 240 + 29 * 8, run);
    for (uint64_t block = 0; block < 4; block++) {
        zend_image_word(
            &image, run + block * 3072, block == 3 ? 0 : run + (block + 1) * 3072);
    }
    read_heap(&image, &region, &heap);
    assert_int_equal(heap.deep_state, FACT_OK);
    assert_int_equal(heap.gc_bytes, 3 * ZEND_PAGE_BYTES);
    /* 2 chunks stay in the ring, the average is 1.5: chunk 1 is empty and goes first,
     * 2 + 0 is not below 1.6, so it is unmapped; then 1 + 0 is: chunk 2 is cached */
    assert_int_equal(heap.gc_real_bytes, ZEND_CHUNK_BYTES);
    assert_int_equal(heap.gc_resident_bytes, ZEND_PAGE_BYTES);
    region_release(&region);
    zend_image_close(&image);
}

static void a_heap_in_motion_is_stale_with_its_uncertainty(void **state)
{
    struct zend_image image;
    struct region region;
    struct zend_heap_facts heap;

    (void)state;
    zend_image_open(&image, stock);
    fill_heap(&image);
    image.reads_until_change = 2;
    read_heap(&image, &region, &heap);
    assert_int_equal(heap.state, FACT_STALE);
    assert_non_null(heap.why);
    assert_true(heap.plus_minus_bytes >= 8 && heap.plus_minus_bytes <= 64);
    assert_int_equal(heap.real_bytes, 3 * ZEND_CHUNK_BYTES);
    region_release(&region);
    zend_image_close(&image);
}

static void unlimited_is_absent_and_not_a_number(void **state)
{
    struct zend_image image;
    struct region region;
    struct zend_heap_facts heap;

    (void)state;
    zend_image_open(&image, stock);
    zend_image_word(&image, zend_image_heap(&image) + stock->real_size + 0x10, INT64_MAX);
    zend_image_word(&image, zend_image_heap(&image) + stock->hard_limit, INT64_MAX);
    read_heap(&image, &region, &heap);
    assert_int_equal(heap.limit_bytes.state, FACT_ABSENT);
    assert_int_equal(heap.hard_limit_bytes.state, FACT_ABSENT);
    region_release(&region);
    zend_image_close(&image);
}

/* Breaks one word of a good heap behind the layout's back and reads it. */
static uint32_t state_with_word(uint64_t offset_from_base, uint64_t value)
{
    struct zend_image image;
    struct zend_layout layout;
    struct zend_heap_facts heap;
    struct zend_pieces pieces;
    struct region region;

    zend_image_open(&image, stock);
    fill_heap(&image);
    assert_int_equal(find_layout(&image, &layout), 0);
    zend_image_word(&image, image.base + offset_from_base, value);
    region_init(&region, 1 << 20);
    assert_int_equal(
        zend_heap_read(&image.memory, image.base, &layout, &region, &heap, &pieces), 0);
    uint32_t result = heap.state == FACT_OK ? heap.deep_state : heap.state;
    region_release(&region);
    zend_image_close(&image);
    return result;
}

static void a_hostile_heap_is_refused_and_never_followed_without_end(void **state)
{
    const uint64_t heap = ZEND_HEAP_SLOT;
    const uint64_t base = 0x7f0000200000;
    const uint64_t main_chunk = heap + stock->main_chunk;

    (void)state;
    /* the ring runs in itself, leaves the heap, is not aligned */
    assert_int_not_equal(state_with_word(8, base), FACT_OK);
    assert_int_not_equal(state_with_word(8, 0x600000000000), FACT_OK);
    assert_int_not_equal(state_with_word(8, base + 1), FACT_OK);
    /* more chunks than can be, and none */
    assert_int_not_equal(state_with_word(main_chunk + 0x10, UINT32_MAX), FACT_OK);
    assert_int_not_equal(state_with_word(main_chunk + 0x10, 0), FACT_OK);
    /* cached chunks that are not there, a huge list in a ring */
    assert_int_not_equal(state_with_word(main_chunk + 0x18, 7), FACT_OK);
    assert_int_not_equal(state_with_word(main_chunk - 8, base + 0x2000), FACT_OK);
    /* used above real, real of half a chunk more */
    assert_int_not_equal(state_with_word(heap + 0x10, UINT64_MAX), FACT_OK);
    assert_int_not_equal(
        state_with_word(heap + stock->real_size, (3 << 21) + 4096), FACT_OK);
    /* a free list that points outside, between blocks, into itself */
    const uint64_t slot = heap + stock->real_size - 240 + 24 * 8;
    const uint64_t run = 10 * ZEND_PAGE_BYTES;
    assert_int_equal(state_with_word(slot, base + run + 8), FACT_STALE);
    assert_int_equal(state_with_word(slot, 0x10), FACT_STALE);
    assert_int_equal(state_with_word(run + 3 * 1280, base + run + 3 * 1280), FACT_STALE);
}

static void a_page_map_that_contradicts_itself_gives_no_layout(void **state)
{
    static const uint32_t words[] = {
        0x40000000, 0x40000000 | 600, 0x80000000 | 31, 0xc0000000, 0x00000000};

    (void)state;
    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
        struct zend_image image;
        struct zend_layout layout;
        zend_image_open(&image, stock);
        zend_image_large(&image, 0, 7, 2);
        assert_int_equal(find_layout(&image, &layout), 0);
        zend_image_half(&image, image.base + stock->free_map + 64 + 7 * 4, words[i]);
        assert_int_equal(find_layout(&image, &layout), -ENOENT);
        zend_image_close(&image);
    }
}

static void a_list_of_huge_blocks_that_is_a_ring_ends_at_once(void **state)
{
    enum { NODES = 3, NODE = 7 * ZEND_PAGE_BYTES, FEW_READS = 32 };
    struct zend_image image;
    struct zend_huge_sum sum;

    (void)state;
    zend_image_open(&image, stock);
    zend_image_large(&image, 0, 7, 1);
    for (uint64_t i = 0; i < NODES; i++) {
        const uint64_t node = image.base + NODE + i * 24;
        zend_image_word(&image, node, UINT64_C(1) << 40);
        zend_image_word(&image, node + 8, ZEND_CHUNK_BYTES);
        zend_image_word(&image, node + 16, image.base + NODE + (i + 1) % NODES * 24);
    }
    assert_int_equal(zend_huge_list_sum(&image.memory, image.base + NODE, &sum), -EINVAL);
    assert_true(sum.blocks < FEW_READS);
    zend_image_word(&image, image.base + NODE + 8, UINT64_C(1) << 41);
    assert_int_equal(zend_huge_list_sum(&image.memory, image.base + NODE, &sum), -EINVAL);
    assert_int_equal(sum.blocks, 0);
    zend_image_close(&image);
}

/* What zend_read() finds in a process that has nothing but the image. */
static void read_process(
    struct zend_image *image, struct region *region, struct process_facts *process)
{
    static char no_path[] = "";
    struct mapping mapping = {.start = image->base,
        .end = image->base + ZEND_IMAGE_CHUNKS * ZEND_CHUNK_BYTES,
        .permissions = MAPPING_READ | MAPPING_WRITE,
        .path = no_path};

    region_init(region, 1 << 20);
    *process = (struct process_facts){.mappings = &mapping, .mapping_count = 1};
    assert_int_equal(zend_read(&image->memory, region, process), 0);
    process->mappings = NULL;
    process->mapping_count = 0;
}

static void a_heap_that_never_adds_up_is_told_and_not_left_out(void **state)
{
    struct zend_image image;
    struct process_facts process;
    struct region region;

    (void)state;
    zend_image_open(&image, stock);
    zend_image_word(&image, zend_image_heap(&image) + stock->real_size, 1);
    read_process(&image, &region, &process);
    assert_int_equal(process.zend.heap_count, 1);
    assert_int_equal(process.zend.heaps[0].state, FACT_MALFORMED);
    assert_int_equal(process.zend.heaps[0].address, zend_image_heap(&image));
    region_release(&region);
    zend_image_close(&image);
}

/* Reads of an image whose target is in the middle of a change until the second one. */
static struct {
    struct zend_image *image;
    const struct memory_operations *operations;
    uint64_t real_bytes;
    int reads;
} torn;

static int read_torn(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    if (++torn.reads == 2) {
        zend_image_word(
            torn.image, zend_image_heap(torn.image) + stock->real_size, torn.real_bytes);
    }
    return torn.operations->read(memory, address, data, bytes);
}

static void a_page_copied_during_a_change_is_read_again(void **state)
{
    struct zend_image image;
    struct process_facts process;
    struct region region;

    (void)state;
    zend_image_open(&image, stock);
    struct memory_operations operations = *image.memory.operations;
    const uint64_t field = zend_image_heap(&image) + stock->real_size;
    torn.image = &image;
    torn.operations = image.memory.operations;
    torn.reads = 0;
    memcpy(&torn.real_bytes, zend_image_at(&image, field), sizeof(torn.real_bytes));
    operations.read = read_torn;
    image.memory.operations = &operations;
    zend_image_word(&image, field, 1);
    read_process(&image, &region, &process);
    assert_int_equal(process.zend.heap_count, 1);
    assert_int_equal(process.zend.heaps[0].state, FACT_OK);
    region_release(&region);
    zend_image_close(&image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_layout_of_each_known_build_is_found_from_the_heap),
        cmocka_unit_test(every_byte_of_real_is_in_one_part),
        cmocka_unit_test(a_full_chunk_is_no_cliff),
        cmocka_unit_test(a_list_through_all_pages_reads_each_about_once),
        cmocka_unit_test(a_collection_is_predicted_from_complete_runs),
        cmocka_unit_test(a_heap_in_motion_is_stale_with_its_uncertainty),
        cmocka_unit_test(unlimited_is_absent_and_not_a_number),
        cmocka_unit_test(a_hostile_heap_is_refused_and_never_followed_without_end),
        cmocka_unit_test(a_page_map_that_contradicts_itself_gives_no_layout),
        cmocka_unit_test(a_list_of_huge_blocks_that_is_a_ring_ends_at_once),
        cmocka_unit_test(a_heap_that_never_adds_up_is_told_and_not_left_out),
        cmocka_unit_test(a_page_copied_during_a_change_is_read_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
