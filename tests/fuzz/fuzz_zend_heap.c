/*
 * fuzz_zend_heap.c - a good Zend heap with words of it replaced: each 12 bytes of input are
 * an offset and a value. The walk must end, stay inside the memory and never claim that a
 * heap whose parts do not sum up is ok.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/facts/zend_image.h"
#include "facts/zend_heap.h"

enum { PATCH_BYTES = 12 };

static const struct zend_image_build builds[] = {
    {"8.2.32", 0x110, 0, 0x138, 0x1c8},
    {"8.2.36", 0x110, 0x128, 0x148, 0x1e0},
    {"8.4.27", 0x118, 0x130, 0x150, 0x230},
};

static void patch(struct zend_image *image, const uint8_t *data, size_t bytes)
{
    const uint32_t size = ZEND_IMAGE_CHUNKS * ZEND_CHUNK_BYTES - 8;

    for (size_t at = 0; at + PATCH_BYTES <= bytes; at += PATCH_BYTES) {
        uint32_t offset;
        uint64_t value;
        memcpy(&offset, data + at, sizeof(offset));
        memcpy(&value, data + at + sizeof(offset), sizeof(value));
        zend_image_word(image, image->base + offset % size, value);
    }
}

static void check_sums(const struct zend_heap_facts *heap)
{
    uint64_t sum =
        heap->small_live_bytes + heap->small_free_bytes + heap->run_tail_bytes +
        (heap->large_pages + heap->free_pages + heap->chunks) * ZEND_PAGE_BYTES +
        heap->cached_chunks * ZEND_CHUNK_BYTES + heap->huge_bytes;

    if (heap->state == FACT_OK && sum < heap->real_bytes) {
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct zend_image image;
    struct zend_layout layout;
    struct zend_heap_facts heap;
    struct zend_pieces pieces;
    struct region region;

    if (bytes < 1) {
        return 0;
    }
    zend_image_open(&image, &builds[data[0] % 3]);
    zend_image_small(&image, 0, 10, 24);
    zend_image_use(&image, 3 * 1280);
    zend_image_large(&image, 1, 1, 256);
    patch(&image, data + 1, bytes - 1);
    region_init(&region, 64 << 20);
    if (zend_layout_find(
            &image.memory, image.base, zend_image_at(&image, image.base), &layout) == 0 &&
        zend_heap_read(&image.memory, image.base, &layout, &region, &heap, &pieces) ==
            0) {
        check_sums(&heap);
    }
    region_release(&region);
    zend_image_close(&image);
    return 0;
}
