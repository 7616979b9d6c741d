/* test_zend.c - processes with several heaps, as a thread-safe PHP has one in each thread. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/zend.h"
#include "zend_image.h"

enum { THREADS = 3, IMAGE_BYTES = ZEND_IMAGE_CHUNKS * ZEND_CHUNK_BYTES };

static const struct zend_image_build build = {"8.2.36", 0x110, 0x128, 0x148, 0x1e0};
static const uint64_t first_base = 0x7f0000200000;

/* The heaps of some threads; between two of them nothing is mapped. */
struct threads {
    struct memory memory; /* first: is what readers get */
    struct zend_image images[THREADS];
    struct mapping mappings[THREADS];
    struct process_facts process;
    struct region region;
};

static struct memory *memory_at(struct memory *memory, uint64_t address)
{
    struct threads *threads = (struct threads *)(void *)memory;

    for (size_t i = 0; i < THREADS; i++) {
        const uint64_t base = threads->images[i].base;
        if (address >= base && address - base < IMAGE_BYTES) {
            return &threads->images[i].memory;
        }
    }
    return NULL;
}

static int read_threads(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct memory *part = memory_at(memory, address);

    return part == NULL ? -EFAULT : part->operations->read(part, address, data, bytes);
}

static int pages_of_threads(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct memory *part = memory_at(memory, address);

    if (part == NULL) {
        memset(bits, 0, count);
        return 0;
    }
    return part->operations->pages(part, address, count, bits);
}

static const struct memory_operations operations = {
    .read = read_threads, .pages = pages_of_threads};

static int setup(void **state)
{
    static struct threads threads;

    threads = (struct threads){
        .memory = {.operations = &operations, .page_bytes = ZEND_PAGE_BYTES}};
    region_init(&threads.region, 16 << 20);
    for (size_t i = 0; i < THREADS; i++) {
        const uint64_t base = first_base + i * 2 * IMAGE_BYTES;
        zend_image_open_at(&threads.images[i], &build, base);
        zend_image_large(&threads.images[i], 1, 1, (uint32_t)i + 1);
        threads.mappings[i] = (struct mapping){.start = base,
            .end = base + IMAGE_BYTES,
            .permissions = MAPPING_READ | MAPPING_WRITE,
            .path = (char *)""};
    }
    threads.process =
        (struct process_facts){.mappings = threads.mappings, .mapping_count = THREADS};
    *state = &threads;
    return 0;
}

static int teardown(void **state)
{
    struct threads *threads = *state;

    for (size_t i = 0; i < THREADS; i++) {
        zend_image_close(&threads->images[i]);
    }
    region_release(&threads->region);
    return 0;
}

static const struct zend_heap_facts *read_heaps(struct threads *threads, size_t count)
{
    assert_int_equal(zend_read(&threads->memory, &threads->region, &threads->process), 0);
    assert_int_equal(threads->process.zend.heap_count, count);
    return threads->process.zend.heaps;
}

static void each_thread_has_its_heap(void **state)
{
    struct threads *threads = *state;
    const struct zend_heap_facts *heaps = read_heaps(threads, THREADS);

    for (size_t i = 0; i < THREADS; i++) {
        assert_int_equal(heaps[i].state, FACT_OK);
        assert_int_equal(heaps[i].address, zend_image_heap(&threads->images[i]));
        assert_int_equal(heaps[i].used_bytes, (i + 1) * ZEND_PAGE_BYTES);
        assert_int_equal(heaps[i].chunks, ZEND_IMAGE_CHUNKS - 1);
    }
    /* The chunks of each are spans that say whose they are. */
    assert_int_equal(threads->process.span_count, THREADS * (ZEND_IMAGE_CHUNKS - 1));
    for (size_t i = 0; i < threads->process.span_count; i++) {
        assert_int_equal(threads->process.spans[i].owner, SPAN_ZEND_CHUNK);
        assert_int_equal(threads->process.spans[i].index, i / (ZEND_IMAGE_CHUNKS - 1));
    }
}

static void a_thread_in_motion_leaves_the_others_exact(void **state)
{
    struct threads *threads = *state;

    threads->images[1].reads_until_change = 2;
    const struct zend_heap_facts *heaps = read_heaps(threads, THREADS);
    assert_int_equal(heaps[0].state, FACT_OK);
    assert_int_equal(heaps[1].state, FACT_STALE);
    assert_int_equal(heaps[2].state, FACT_OK);
}

/* A ring that leads into another thread's chunks is no ring of this heap. */
static void heaps_do_not_mix(void **state)
{
    struct threads *threads = *state;
    const uint64_t second = threads->images[1].base + ZEND_CHUNK_BYTES;

    zend_image_word(&threads->images[0], threads->images[0].base + 8, second);
    const struct zend_heap_facts *heaps = read_heaps(threads, THREADS);
    assert_int_not_equal(heaps[0].state, FACT_OK);
    assert_int_equal(heaps[1].state, FACT_OK);
    assert_int_equal(heaps[2].state, FACT_OK);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(each_thread_has_its_heap),
        CASE(a_thread_in_motion_leaves_the_others_exact),
        CASE(heaps_do_not_mix),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
