/* recorded_memory.c - reads what record_memory wrote; anything unexpected fails the test. */
#include "recorded_memory.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <zlib.h>

#include "paged_memory.h"

enum {
    LINE_BYTES = 1 << 16,
    REGION_BYTES = 256 << 20,
    PAGES_MAX = 1 << 20,
    MAPPINGS_MAX = 1 << 12,
    PAGE_MAX_BYTES = 1 << 16,
};

static int compare_pages(const void *left, const void *right)
{
    const struct recorded_page *a = left, *b = right;

    return (a->address > b->address) - (a->address < b->address);
}

static struct recorded_page *page_at(struct recorded_memory *recorded, uint64_t address)
{
    const struct recorded_page key = {
        .address = address / recorded->memory.page_bytes * recorded->memory.page_bytes};

    return bsearch(
        &key, recorded->pages, recorded->page_count, sizeof(key), compare_pages);
}

/* Pages without data were present, and all zeroes. */
static const uint8_t *bytes_of_page(struct memory *memory, uint64_t address)
{
    static const uint8_t zeroes[PAGE_MAX_BYTES];
    const struct recorded_page *page =
        page_at((struct recorded_memory *)(void *)memory, address);

    return page == NULL ? NULL : page->data != NULL ? page->data : zeroes;
}

static int read_recorded(
    struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    return paged_memory_read(memory, address, data, bytes, bytes_of_page);
}

static int pages_of_recorded(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct recorded_memory *recorded = (struct recorded_memory *)(void *)memory;

    for (size_t i = 0; i < count; i++) {
        const struct recorded_page *page =
            page_at(recorded, address + i * memory->page_bytes);
        bits[i] = page == NULL ? 0 : page->bits;
    }
    return 0;
}

static const struct memory_operations operations = {
    .read = read_recorded, .pages = pages_of_recorded};

static void *grow(
    struct recorded_memory *recorded, void *array, size_t count, size_t max, size_t bytes)
{
    void *place = region_grow(&recorded->region, array, count, max, bytes);

    assert_non_null(place);
    memset(place, 0, bytes);
    return place;
}

/* The number at *text, which is moved behind it and the blank that follows. */
static uint64_t take_number(const char **text, int base)
{
    char *end;
    const uint64_t number = strtoull(*text, &end, base);

    assert_true(end != *text);
    *text = *end == ' ' ? end + 1 : end;
    return number;
}

static void add_mapping(struct recorded_memory *recorded, const char *line)
{
    struct process_facts *process = &recorded->process;
    struct mapping *mapping = grow(recorded, &process->mappings, process->mapping_count,
        MAPPINGS_MAX, sizeof(*mapping));

    mapping->start = take_number(&line, 16);
    mapping->end = take_number(&line, 16);
    mapping->permissions = (uint32_t)take_number(&line, 16);
    mapping->flags = (uint32_t)take_number(&line, 16);
    mapping->device_major = (uint32_t)take_number(&line, 16);
    mapping->device_minor = (uint32_t)take_number(&line, 16);
    mapping->inode = take_number(&line, 16);
    mapping->path = region_copy_text(&recorded->region, line);
    assert_non_null(mapping->path);
    process->mapping_count++;
}

static void add_pages(struct recorded_memory *recorded, const char *line)
{
    uint64_t address = take_number(&line, 16);

    for (const char *bits = line; *bits != '\0'; bits++) {
        struct recorded_page *page = grow(
            recorded, &recorded->pages, recorded->page_count, PAGES_MAX, sizeof(*page));
        page->address = address;
        page->bits = (uint8_t)(*bits - '@');
        recorded->page_count++;
        address += recorded->memory.page_bytes;
    }
}

/* The pages of a mapping come before their data, and all are in ascending order. */
static void add_data(struct recorded_memory *recorded, const char *line, gzFile file)
{
    const unsigned bytes = (unsigned)recorded->memory.page_bytes;
    uint8_t *data = region_alloc(&recorded->region, bytes);
    const uint64_t address = take_number(&line, 16);

    assert_non_null(data);
    assert_int_equal(gzread(file, data, bytes), bytes);
    struct recorded_page *page = page_at(recorded, address);
    assert_non_null(page);
    page->data = data;
}

static void add_thread(struct recorded_memory *recorded, const char *line)
{
    const size_t index = recorded->threads.count;
    const int32_t id = (int32_t)take_number(&line, 10);

    assert_true(index < RECORDED_THREADS_MAX);
    recorded->stack_pointers[index] = take_number(&line, 16);
    recorded->thread_ids[index] = (struct thread_ids){.own_id = id, .id = id};
    recorded->threads.count++;
}

/* What follows name in line; NULL: line is another. */
static const char *behind(const char *line, const char *name)
{
    const size_t length = strlen(name);

    return strncmp(line, name, length) == 0 ? line + length : NULL;
}

static void read_line(struct recorded_memory *recorded, char *line, gzFile file)
{
    const char *rest;

    line[strcspn(line, "\n")] = '\0';
    if ((rest = behind(line, "mapping ")) != NULL) {
        add_mapping(recorded, rest);
    } else if ((rest = behind(line, "pages ")) != NULL) {
        add_pages(recorded, rest);
    } else if ((rest = behind(line, "data ")) != NULL) {
        add_data(recorded, rest, file);
    } else if ((rest = behind(line, "thread ")) != NULL) {
        add_thread(recorded, rest);
    } else if ((rest = behind(line, "executable ")) != NULL) {
        recorded->process.executable = region_copy_text(&recorded->region, rest);
    } else {
        rest = behind(line, "page ");
        assert_non_null(rest);
        recorded->memory.page_bytes = take_number(&rest, 10);
    }
}

void recorded_memory_open(
    struct recorded_memory *recorded, const char *folder, const char *name)
{
    static char line[LINE_BYTES];

    *recorded = (struct recorded_memory){.memory.operations = &operations};
    region_init(&recorded->region, REGION_BYTES);
    recorded->threads.threads = recorded->thread_ids;
    (void)snprintf(
        line, sizeof(line), "%s/%s/%s.memory.gz", STRATA_FIXTURES, folder, name);
    gzFile file = gzopen(line, "rb");
    assert_non_null(file);
    assert_non_null(gzgets(file, line, sizeof(line)));
    assert_string_equal(line, "strata recorded memory 1\n");
    while (gzgets(file, line, sizeof(line)) != NULL) {
        read_line(recorded, line, file);
    }
    assert_int_equal(gzclose(file), Z_OK);
    assert_true(recorded->page_count > 0);
    assert_in_range(recorded->memory.page_bytes, 1, PAGE_MAX_BYTES);
}

void recorded_memory_release(struct recorded_memory *recorded)
{
    region_release(&recorded->region);
}
