/* test_python_arena.c - arenas of CPython by the headers of their pools, in synthetic memory. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/python_arena.h"

enum { PAGE = 4096, BYTES = 3 << 20, REGION_BYTES = 1 << 20 };

static const uint64_t base = 0x7f0000004000; /* not a multiple of an arena */

/* One anonymous mapping. */
struct image {
    struct memory memory; /* first */
    uint8_t *data;
    uint8_t present[BYTES / PAGE];
    bool touched_absent;
};

static int image_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct image *image = (struct image *)(void *)memory;
    const uint64_t offset = address - base;

    if (address < base || offset > BYTES || bytes > BYTES - offset) {
        return -EFAULT;
    }
    image->touched_absent = image->touched_absent || image->present[offset / PAGE] == 0;
    memcpy(data, image->data + offset, bytes);
    return 0;
}

static int image_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    const struct image *image = (const struct image *)(const void *)memory;

    for (size_t i = 0; i < count; i++) {
        const uint64_t page = (address - base) / PAGE + i;
        bits[i] = address >= base && page < BYTES / PAGE ? image->present[page] : 0;
    }
    return 0;
}

static struct image image;
static struct mapping mappings[2];
static struct process_facts process;
static struct region region;

static void begin(void)
{
    static const struct memory_operations operations = {
        .read = image_read, .pages = image_pages};
    static char program[] = "/usr/bin/python3.11", none[] = "";

    memset(&image, 0, sizeof(image));
    image.memory = (struct memory){.operations = &operations, .page_bytes = PAGE};
    image.data = calloc(1, BYTES);
    assert_non_null(image.data);
    memset(image.present, PAGE_PRESENT, sizeof(image.present));
    mappings[0] = (struct mapping){.start = 0x400000,
        .end = 0x500000,
        .inode = 1,
        .permissions = MAPPING_READ | MAPPING_EXECUTE,
        .path = program};
    mappings[1] = (struct mapping){.start = base,
        .end = base + BYTES,
        .permissions = MAPPING_READ | MAPPING_WRITE,
        .path = none};
    process = (struct process_facts){.pid = 1, .mappings = mappings, .mapping_count = 2};
    region_init(&region, REGION_BYTES);
}

static void end(void)
{
    assert_false(image.touched_absent);
    region_release(&region);
    free(image.data);
}

static void put_number(uint64_t offset, uint32_t number)
{
    memcpy(image.data + offset, &number, sizeof(number));
}

/* A pool of blocks of 64 bytes, three of them used. */
static void put_pool(uint64_t offset, uint32_t pool_bytes, uint32_t arena)
{
    put_number(offset, 3);
    put_number(offset + 32, arena);
    put_number(offset + 36, 3);
    put_number(offset + 40, 48 + 5 * 64);
    put_number(offset + 44, pool_bytes - 64);
}

static void read_arenas(void)
{
    assert_int_equal(python_arena_read(&image.memory, &region, &process), 0);
}

static void finds_an_arena_of_either_size(void **state)
{
    static const uint32_t pools[] = {16 << 10, 4 << 10};

    (void)state;
    for (size_t k = 0; k < 2; k++) {
        const uint64_t start = 1 << 20;
        begin();
        for (uint32_t i = 0; i < 64; i++) {
            put_pool(start + i * pools[k], pools[k], 9);
        }
        read_arenas();
        assert_int_equal(process.span_count, 1);
        assert_int_equal(process.spans[0].owner, SPAN_PYTHON_ARENA);
        assert_int_equal(process.spans[0].index, 9);
        assert_true(process.spans[0].start == base + start);
        assert_true(process.spans[0].end == base + start + 64 * (uint64_t)pools[k]);
        end();
    }
}

static void keeps_neighbouring_arenas_apart(void **state)
{
    (void)state;
    begin();
    for (uint64_t i = 0; i < 10; i++) {
        put_pool(i * (16 << 10), 16 << 10, i < 4 ? 1 : 2);
    }
    /* Never used pools of the second one are absent. */
    memset(image.present + 10 * 4, 0, sizeof(image.present) - 10 * 4);
    read_arenas();
    assert_int_equal(process.span_count, 2);
    assert_true(process.spans[0].end == base + (64 << 10));
    assert_true(process.spans[1].start == base + (64 << 10));
    assert_true(process.spans[1].end == base + (160 << 10));
    end();
}

static void refuses_headers_that_contradict_themselves(void **state)
{
    static const struct {
        uint32_t offset;
        uint32_t number;
    } damages[] = {{36, 40}, {44, 7}, {40, 49}, {40, 1 << 20}, {0, 5000}, {32, 1u << 30}};

    (void)state;
    for (size_t i = 0; i < sizeof(damages) / sizeof(damages[0]); i++) {
        begin();
        put_pool(1 << 20, 16 << 10, 1);
        put_number((1 << 20) + damages[i].offset, damages[i].number);
        read_arenas();
        assert_int_equal(process.span_count, 0);
        end();
    }
}

static void looks_only_into_python_and_outside_known_owners(void **state)
{
    static char other[] = "/usr/bin/perl";
    struct span *known;

    (void)state;
    begin();
    put_pool(1 << 20, 16 << 10, 1);
    mappings[0].path = other;
    read_arenas();
    assert_int_equal(process.span_count, 0);
    end();

    begin();
    put_pool(1 << 20, 16 << 10, 1);
    known = region_grow(&region, &process.spans, 0, 1, sizeof(*known));
    assert_non_null(known);
    *known =
        (struct span){.start = base, .end = base + BYTES, .owner = SPAN_GLIBC_MMAPPED};
    process.span_count = 1;
    read_arenas();
    assert_int_equal(process.span_count, 1);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(finds_an_arena_of_either_size),
        cmocka_unit_test(keeps_neighbouring_arenas_apart),
        cmocka_unit_test(refuses_headers_that_contradict_themselves),
        cmocka_unit_test(looks_only_into_python_and_outside_known_owners),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
