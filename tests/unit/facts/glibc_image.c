/*
 * glibc_image.c - lays out main_arena, a second arena, mp_, a tcache and mapped blocks the way a
 * release of glibc does, and keeps the sums that a reader must come to.
 *
 * main heap:   tcache | in use | free, pages | cached block | fast chunk | in use | top
 * second heap: heap_info | malloc_state | in use | free | in use | top
 */
#include "glibc_image.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    IN_USE_BYTES = 0x150,
    FREE_BYTES = 0x6010,
    FREE_OFFSET = 0x1000 - 0x20, /* its header reaches into the next page */
    CACHED_BYTES = 0x20,
    FAST_BYTES = 0x30,
    SECOND_FREE_BYTES = 0x3000,
    TCACHE_COUNT = 7,
    TCACHE_COUNT_2_43 = 16,
    USER = GLIBC_CHUNK_HEADER_BYTES,
    SIZE = 8,
    FORWARD = 16,
    BACK = 24,
    MANGLE_SHIFT = 12,
    ARENA_OFFSET = 0x420,
    PARAMETERS_OFFSET = 0x1300,
    SBRK_OFFSET = 0,
};

static const uint64_t part_starts[GLIBC_IMAGE_PARTS] = {
    0x555550000000, 0x7f0040000000, 0x7f0050000000, 0x7f0060000000, 0x7f0060010000};
static const uint64_t part_bytes[GLIBC_IMAGE_PARTS] = {GLIBC_IMAGE_MAIN_BYTES,
    GLIBC_IMAGE_HEAP_BYTES, GLIBC_IMAGE_BLOCK_BYTES, GLIBC_IMAGE_TEXT_BYTES,
    GLIBC_IMAGE_DATA_BYTES};
static char heap_path[] = "[heap]";
static char library_path[] = "/usr/lib/x86_64-linux-gnu/libc.so.6";
static char no_path[] = "";
static char program_path[] = "/usr/bin/program";

/* ---- memory */

static int part_of(const struct glibc_image *image, uint64_t address, uint64_t bytes)
{
    for (int i = 0; i < GLIBC_IMAGE_PARTS; i++) {
        const struct mapping *mapping = &image->mappings[i];
        if (address >= mapping->start && address < mapping->end &&
            bytes <= mapping->end - address) {
            return i;
        }
    }
    return -1;
}

static int image_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct glibc_image *image = (struct glibc_image *)(void *)memory;
    int part;

    image->reads++;
    if (image->before_read != NULL) {
        image->before_read(image);
    }
    part = part_of(image, address, bytes);
    if (part < 0) {
        return -EFAULT;
    }
    const uint64_t offset = address - image->mappings[part].start;
    for (uint64_t page = offset / GLIBC_IMAGE_PAGE;
         page <= (offset + bytes - 1) / GLIBC_IMAGE_PAGE; page++) {
        image->touched_absent = image->touched_absent || image->present[part][page] == 0;
    }
    memcpy(data, image->data[part] + offset, bytes);
    return 0;
}

static int image_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    const struct glibc_image *image = (const struct glibc_image *)(const void *)memory;

    for (size_t i = 0; i < count; i++) {
        const uint64_t page = address + i * GLIBC_IMAGE_PAGE;
        const int part = part_of(image, page, 1);
        bits[i] = part < 0 ? 0
                           : image->present[part][(page - image->mappings[part].start) /
                                                  GLIBC_IMAGE_PAGE];
    }
    return 0;
}

static bool image_next_populated(struct memory *memory, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop)
{
    const struct glibc_image *image = (const struct glibc_image *)(const void *)memory;

    for (int i = 0; i < GLIBC_IMAGE_PARTS; i++) {
        const struct mapping *mapping = &image->mappings[i];
        if (mapping->end > address && mapping->start < end) {
            *start = address > mapping->start ? address : mapping->start;
            *stop = end < mapping->end ? end : mapping->end;
            return true;
        }
    }
    return false;
}

static const struct memory_operations image_operations = {
    .read = image_read, .pages = image_pages, .next_populated = image_next_populated};

static uint8_t *place_of(
    const struct glibc_image *image, uint64_t address, uint64_t bytes)
{
    const int part = part_of(image, address, bytes);

    if (part < 0) {
        abort();
    }
    return image->data[part] + (address - image->mappings[part].start);
}

void glibc_image_put(struct glibc_image *image, uint64_t address, uint64_t word)
{
    memcpy(place_of(image, address, sizeof(word)), &word, sizeof(word));
}

uint64_t glibc_image_get(const struct glibc_image *image, uint64_t address)
{
    uint64_t word;

    memcpy(&word, place_of(image, address, sizeof(word)), sizeof(word));
    return word;
}

static void put_half(struct glibc_image *image, uint64_t address, uint32_t word)
{
    memcpy(place_of(image, address, sizeof(word)), &word, sizeof(word));
}

void glibc_image_drop(struct glibc_image *image, uint64_t start, uint64_t end)
{
    for (uint64_t page = start; page < end; page += GLIBC_IMAGE_PAGE) {
        const int part = part_of(image, page, 1);
        if (part >= 0) {
            image
                ->present[part][(page - image->mappings[part].start) / GLIBC_IMAGE_PAGE] =
                0;
        }
    }
}

/* ---- the heap */

/* A chunk in use at address; the next address. */
static uint64_t put_chunk(
    struct glibc_image *image, uint64_t address, uint64_t bytes, uint64_t bits)
{
    glibc_image_put(image, address + SIZE, bytes | GLIBC_PREV_IN_USE | bits);
    return address + bytes;
}

/* A free chunk: footer, and the mark in the chunk above, which must be written later. */
static uint64_t put_free(
    struct glibc_image *image, uint64_t address, uint64_t bytes, uint64_t bin)
{
    glibc_image_put(image, address + SIZE, bytes | GLIBC_PREV_IN_USE);
    glibc_image_put(image, address + FORWARD, bin);
    glibc_image_put(image, address + BACK, bin);
    glibc_image_put(image, bin + FORWARD, address);
    glibc_image_put(image, bin + BACK, address);
    glibc_image_put(image, address + bytes, bytes);
    return address + bytes;
}

static uint64_t put_above_free(
    struct glibc_image *image, uint64_t address, uint64_t bytes, uint64_t bits)
{
    glibc_image_put(image, address + SIZE, bytes | bits);
    return address + bytes;
}

static void put_state(
    struct glibc_image *image, uint64_t arena, uint64_t next, uint64_t top, uint64_t held)
{
    const struct glibc_state_layout *state = &image->layout->state;

    for (uint64_t i = 0; i < GLIBC_BIN_COUNT; i++) {
        const uint64_t bin = arena + state->bins + i * GLIBC_BIN_BYTES;
        glibc_image_put(image, bin, bin - GLIBC_CHUNK_HEADER_BYTES);
        glibc_image_put(image, bin + 8, bin - GLIBC_CHUNK_HEADER_BYTES);
    }
    glibc_image_put(image, arena + state->next, next);
    glibc_image_put(image, arena + state->top, top);
    glibc_image_put(image, arena + state->attached_threads, 1);
    glibc_image_put(image, arena + state->system_mem, held);
    glibc_image_put(image, arena + state->max_system_mem, held);
}

static void put_top(struct glibc_image *image, uint64_t arena, uint64_t top, uint64_t end)
{
    glibc_image_put(image, arena + image->layout->state.top, top);
    glibc_image_put(image, top + SIZE, (end - top) | GLIBC_PREV_IN_USE);
}

/* A chunk with one block in its first list. */
static uint64_t put_tcache(struct glibc_image *image, uint64_t address, uint64_t block)
{
    const struct glibc_tcache_layout *tcache = &image->layout->tcache;
    uint8_t *counts = place_of(image, address + USER, tcache->chunk_bytes - USER);

    for (uint32_t i = 0; i < tcache->bins; i++) {
        const uint16_t held = i == 0 ? 1 : 0;
        const uint16_t stored =
            tcache->counts_down ? (uint16_t)(TCACHE_COUNT - held) : held;
        if (tcache->count_bytes == 1) {
            counts[i] = (uint8_t)stored;
        } else {
            memcpy(counts + i * sizeof(stored), &stored, sizeof(stored));
        }
    }
    glibc_image_put(image, address + USER + tcache->entries, block + USER);
    glibc_image_put(image, block + USER,
        image->layout->mangled_links ? (block + USER) >> MANGLE_SHIFT : 0);
    image->cached_bytes = CACHED_BYTES;
    return put_chunk(image, address, tcache->chunk_bytes, 0);
}

static uint64_t put_fast(struct glibc_image *image, uint64_t address)
{
    const uint32_t heads = image->layout->state.fast_bins;
    const uint64_t bin = (FAST_BYTES - GLIBC_CHUNK_MINIMUM_BYTES) / GLIBC_CHUNK_ALIGN;

    if (heads == 0) {
        return address;
    }
    image->main_fast = address;
    glibc_image_put(image, image->main_arena + heads + bin * 8, address);
    glibc_image_put(image, address + FORWARD,
        image->layout->mangled_links ? (address + FORWARD) >> MANGLE_SHIFT : 0);
    return put_chunk(image, address, FAST_BYTES, 0);
}

static void build_main(struct glibc_image *image)
{
    const struct glibc_tcache_layout *tcache = &image->layout->tcache;
    const uint64_t start = part_starts[GLIBC_IMAGE_MAIN] + SBRK_OFFSET;
    const uint64_t end = part_starts[GLIBC_IMAGE_MAIN] + GLIBC_IMAGE_MAIN_BYTES;
    const uint64_t bin = image->main_arena + image->layout->state.bins - USER;
    const uint64_t first_bytes = FREE_OFFSET - tcache->chunk_bytes;
    const uint64_t cached = start + FREE_OFFSET + FREE_BYTES;
    struct glibc_arena *expected = &image->expected_main;
    uint64_t at = start;

    image->main_first = start;
    put_state(image, image->main_arena, image->second_arena, 0, end - start);
    at = put_tcache(image, at, cached);
    at = put_chunk(image, at, first_bytes, 0);
    image->main_free = at;
    at = put_free(image, at, FREE_BYTES, bin);
    at = put_above_free(image, at, CACHED_BYTES, 0);
    at = put_fast(image, at);
    image->main_last = at;
    at = put_chunk(image, at, IN_USE_BYTES, 0);
    put_top(image, image->main_arena, at, end);
    *expected = (struct glibc_arena){.address = image->main_arena,
        .main = true,
        .contiguous = true,
        .held_bytes = end - start,
        .free_bytes = FREE_BYTES,
        .free_chunks = 1,
        .fast_bytes = image->main_fast != 0 ? FAST_BYTES : 0,
        .fast_chunks = image->main_fast != 0 ? 1 : 0,
        .top_bytes = end - at,
        .in_use_bytes = FREE_OFFSET + IN_USE_BYTES + CACHED_BYTES,
        .in_use_chunks = 4,
        .cached_bytes = CACHED_BYTES};
}

static void build_second(struct glibc_image *image)
{
    const struct glibc_state_layout *state = &image->layout->state;
    const uint64_t heap = part_starts[GLIBC_IMAGE_HEAP];
    const uint64_t end = heap + GLIBC_IMAGE_HEAP_BYTES;
    const uint64_t first =
        (image->second_arena + state->bytes + USER + 15) / 16 * 16 - USER;
    uint64_t at = first;

    glibc_image_put(image, heap, image->second_arena);
    glibc_image_put(image, heap + 16, GLIBC_IMAGE_HEAP_BYTES);
    glibc_image_put(image, heap + 24, GLIBC_IMAGE_HEAP_BYTES);
    put_state(image, image->second_arena, image->main_arena, 0, GLIBC_IMAGE_HEAP_BYTES);
    at = put_chunk(image, at, IN_USE_BYTES, GLIBC_NON_MAIN_ARENA);
    image->second_free = at;
    at = put_free(image, at, SECOND_FREE_BYTES, image->second_arena + state->bins - USER);
    at = put_above_free(image, at, IN_USE_BYTES, GLIBC_NON_MAIN_ARENA);
    put_top(image, image->second_arena, at, end);
    image->expected_second = (struct glibc_arena){.address = image->second_arena,
        .held_bytes = GLIBC_IMAGE_HEAP_BYTES,
        .free_bytes = SECOND_FREE_BYTES,
        .free_chunks = 1,
        .top_bytes = end - at,
        .in_use_bytes = 2 * (uint64_t)IN_USE_BYTES,
        .in_use_chunks = 2,
        .overhead_bytes = first - heap};
}

static void build_parameters(struct glibc_image *image)
{
    const struct glibc_parameter_layout *layout = &image->layout->parameters;
    const uint64_t at = image->parameters;
    const bool excess = image->layout->mmapped_excess_bytes != 0;
    const uint64_t block = part_starts[GLIBC_IMAGE_BLOCK];

    glibc_image_put(image, at + 0, 131072);  /* trim_threshold */
    glibc_image_put(image, at + 8, 131072);  /* top_pad */
    glibc_image_put(image, at + 16, 131072); /* mmap_threshold */
    glibc_image_put(image, at + 24, 8);      /* arena_test */
    put_half(image, at + layout->n_mmaps, 2);
    put_half(image, at + layout->n_mmaps + 4, 65536);
    put_half(image, at + layout->n_mmaps + 8, 2);
    glibc_image_put(image, at + layout->mmapped_mem, GLIBC_IMAGE_BLOCK_BYTES);
    glibc_image_put(image, at + layout->mmapped_mem + 8, GLIBC_IMAGE_BLOCK_BYTES);
    glibc_image_put(image, at + layout->mmapped_mem + 16, image->main_first);
    glibc_image_put(image, at + layout->tcache_bins, GLIBC_TCACHE_SMALL_BINS);
    glibc_image_put(image, at + layout->tcache_bins + 8, excess ? 1041 : 1032);
    glibc_image_put(image, at + layout->tcache_bins + 16, TCACHE_COUNT);
    for (uint64_t i = 0; i < 2; i++) {
        const uint64_t half = GLIBC_IMAGE_BLOCK_BYTES / 2;
        glibc_image_put(image, block + i * half + SIZE,
            (half - image->layout->mmapped_excess_bytes) | GLIBC_IS_MMAPPED);
    }
}

void glibc_image_init(struct glibc_image *image, enum glibc_layout_id layout)
{
    static const uint32_t permissions[GLIBC_IMAGE_PARTS] = {MAPPING_READ | MAPPING_WRITE,
        MAPPING_READ | MAPPING_WRITE, MAPPING_READ | MAPPING_WRITE, MAPPING_READ,
        MAPPING_READ | MAPPING_WRITE};
    static char *const paths[GLIBC_IMAGE_PARTS] = {
        heap_path, no_path, no_path, library_path, library_path};
    char version[16] = {0};

    *image = (struct glibc_image){.layout = &glibc_layouts[layout],
        .memory = {.operations = &image_operations, .page_bytes = GLIBC_IMAGE_PAGE}};
    for (int i = 0; i < GLIBC_IMAGE_PARTS; i++) {
        image->mappings[i] = (struct mapping){.start = part_starts[i],
            .end = part_starts[i] + part_bytes[i],
            .permissions = permissions[i],
            .inode = paths[i] == library_path ? 42 : 0,
            .path = paths[i]};
        image->data[i] = calloc(1, part_bytes[i]);
        if (image->data[i] == NULL) {
            abort();
        }
        memset(image->present[i], PAGE_PRESENT, part_bytes[i] / GLIBC_IMAGE_PAGE);
    }
    (void)snprintf(version, sizeof(version), "GLIBC_2.%u", image->layout->first_minor);
    memcpy(image->data[GLIBC_IMAGE_TEXT] + 100, version, sizeof(version));
    image->main_arena = part_starts[GLIBC_IMAGE_DATA] + ARENA_OFFSET;
    image->parameters = part_starts[GLIBC_IMAGE_DATA] + PARAMETERS_OFFSET;
    image->second_arena = part_starts[GLIBC_IMAGE_HEAP] + image->layout->heap_info_bytes;
    build_main(image);
    build_second(image);
    build_parameters(image);
}

void glibc_image_release(struct glibc_image *image)
{
    for (int i = 0; i < GLIBC_IMAGE_PARTS; i++) {
        free(image->data[i]);
    }
}

void glibc_image_process(struct glibc_image *image, struct process_facts *process)
{
    *process = (struct process_facts){.pid = 1,
        .executable = program_path,
        .mappings = image->mappings,
        .mapping_count = GLIBC_IMAGE_PARTS};
}
