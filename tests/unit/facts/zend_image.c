/*
 * zend_image.c - builds a heap of ZEND_IMAGE_CHUNKS - 1 chunks in a ring and one spare
 * chunk for the cache or a huge block. All counters are kept right by the helpers, so a test
 * starts from a heap that reads as ok and breaks one thing.
 */
#include "zend_image.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { RING = ZEND_IMAGE_CHUNKS - 1, PAGES = ZEND_IMAGE_CHUNKS * ZEND_CHUNK_PAGES };

static const uint64_t image_base = 0x7f0000200000;

static struct zend_image *image_of(struct memory *memory)
{
    return (struct zend_image *)(void *)memory;
}

static int image_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct zend_image *image = image_of(memory);
    uint64_t offset = address - image->base;

    if (address < image->base || offset > (uint64_t)PAGES * ZEND_PAGE_BYTES ||
        bytes > (uint64_t)PAGES * ZEND_PAGE_BYTES - offset) {
        return -EFAULT;
    }
    memcpy(data, image->bytes + offset, bytes);
    if (image->reads_until_change > 0 &&
        ++image->reads % image->reads_until_change == 0) {
        zend_image_use(image, 8);
    }
    return 0;
}

static int image_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct zend_image *image = image_of(memory);

    for (size_t i = 0; i < count; i++) {
        uint64_t page = (address - image->base) / ZEND_PAGE_BYTES + i;
        bits[i] = address >= image->base && page < PAGES ? image->present[page] : 0;
    }
    return 0;
}

static const struct memory_operations image_operations = {
    .read = image_read, .pages = image_pages};

uint8_t *zend_image_at(struct zend_image *image, uint64_t address)
{
    uint64_t offset = address - image->base;

    image->present[offset / ZEND_PAGE_BYTES] = PAGE_PRESENT;
    return image->bytes + offset;
}

void zend_image_word(struct zend_image *image, uint64_t address, uint64_t value)
{
    memcpy(zend_image_at(image, address), &value, sizeof(value));
}

void zend_image_half(struct zend_image *image, uint64_t address, uint32_t value)
{
    memcpy(zend_image_at(image, address), &value, sizeof(value));
}

uint64_t zend_image_heap(const struct zend_image *image)
{
    return image->base + ZEND_HEAP_SLOT;
}

static uint64_t chunk_address(const struct zend_image *image, int chunk)
{
    return image->base + (uint64_t)chunk * ZEND_CHUNK_BYTES;
}

static void open_chunk(struct zend_image *image, int chunk)
{
    uint64_t at = chunk_address(image, chunk);

    zend_image_word(image, at, zend_image_heap(image));
    zend_image_word(image, at + 8, chunk_address(image, (chunk + 1) % RING));
    zend_image_word(image, at + 0x10, chunk_address(image, (chunk + RING - 1) % RING));
    zend_image_half(image, at + 0x18, ZEND_CHUNK_PAGES);
    zend_image_half(image, at + 0x1c, 1);
    zend_image_half(image, at + 0x20, (uint32_t)chunk);
    zend_image_large(image, chunk, 0, 1);
}

void zend_image_open(struct zend_image *image, const struct zend_image_build *build)
{
    zend_image_open_at(image, build, image_base);
}

void zend_image_open_at(
    struct zend_image *image, const struct zend_image_build *build, uint64_t base)
{
    *image = (struct zend_image){
        .memory = {.operations = &image_operations, .page_bytes = ZEND_PAGE_BYTES},
        .build = build,
        .base = base,
        .bytes = calloc(ZEND_IMAGE_CHUNKS, ZEND_CHUNK_BYTES),
        .present = calloc(PAGES, 1),
    };
    if (image->bytes == NULL || image->present == NULL) {
        abort();
    }
    for (int chunk = 0; chunk < RING; chunk++) {
        open_chunk(image, chunk);
    }
    uint64_t heap = zend_image_heap(image);
    uint64_t real = (uint64_t)RING * ZEND_CHUNK_BYTES;
    double average = 1.5;
    zend_image_word(image, heap + 0x10, 0); /* page 0 of each chunk is not in used */
    zend_image_word(image, heap + 0x18, 0);
    zend_image_word(image, heap + build->real_size, real);
    zend_image_word(image, heap + build->real_size + 8, real + ZEND_CHUNK_BYTES);
    zend_image_word(image, heap + build->real_size + 0x10, 128 << 20);
    if (build->hard_limit != 0) {
        zend_image_word(image, heap + build->hard_limit, 256 << 20);
    }
    zend_image_word(image, heap + build->main_chunk, image->base);
    zend_image_half(image, heap + build->main_chunk + 0x10, RING);
    zend_image_half(image, heap + build->main_chunk + 0x14, RING + 1);
    memcpy(
        zend_image_at(image, heap + build->main_chunk + 0x20), &average, sizeof(average));
}

void zend_image_close(struct zend_image *image)
{
    free(image->bytes);
    free(image->present);
}

static void take_pages(struct zend_image *image, int chunk, uint32_t page, uint32_t pages)
{
    uint64_t at = chunk_address(image, chunk);
    uint32_t free_pages = zend_half_word(zend_image_at(image, at + 0x18), 0);

    for (uint32_t i = page; i < page + pages; i++) {
        *zend_image_at(image, at + image->build->free_map + i / 8) |=
            (uint8_t)(1u << i % 8);
    }
    zend_image_half(image, at + 0x18, free_pages - pages);
}

static void map_word(struct zend_image *image, int chunk, uint32_t page, uint32_t word)
{
    zend_image_half(image,
        chunk_address(image, chunk) + image->build->free_map + 64 + page * 4, word);
}

void zend_image_large(struct zend_image *image, int chunk, uint32_t page, uint32_t pages)
{
    take_pages(image, chunk, page, pages);
    map_word(image, chunk, page, 0x40000000u | pages);
    if (page > 0) {
        zend_image_use(image, (uint64_t)pages * ZEND_PAGE_BYTES);
    }
}

void zend_image_small(struct zend_image *image, int chunk, uint32_t page, uint32_t bin)
{
    uint32_t pages = zend_sizes[bin].pages;

    take_pages(image, chunk, page, pages);
    map_word(image, chunk, page, 0x80000000u | bin);
    for (uint32_t i = 1; i < pages; i++) {
        map_word(image, chunk, page + i, 0xc0000000u | bin | i << 16);
    }
}

void zend_image_use(struct zend_image *image, uint64_t bytes)
{
    uint64_t heap = zend_image_heap(image);
    uint64_t used = zend_word(zend_image_at(image, heap + 0x10), 0) + bytes;

    zend_image_word(image, heap + 0x10, used);
    if (zend_word(zend_image_at(image, heap + 0x18), 0) < used) {
        zend_image_word(image, heap + 0x18, used);
    }
}
