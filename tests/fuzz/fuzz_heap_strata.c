/*
 * fuzz_heap_strata.c - a good statistics region with bytes of it and of its directory replaced:
 * each 12 bytes of input are an offset and a value. The reading must end, stay inside the
 * memory, touch no absent page and never claim figures that do not sum up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/facts/strata_image.h"

enum { PATCH_BYTES = 12 };

/* Half of the offsets hit the directory, which is far behind the region. */
static void patch(struct strata_image *image, const uint8_t *data, size_t bytes)
{
    for (size_t at = 0; at + PATCH_BYTES <= bytes; at += PATCH_BYTES) {
        uint32_t offset;
        memcpy(&offset, data + at, sizeof(offset));
        uint8_t *part = (offset & 1) != 0 ? (uint8_t *)image->directory : image->bytes;
        memcpy(part + (offset >> 1) % 8000, data + at + sizeof(offset), sizeof(uint64_t));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct strata_image image;

    if (bytes < 1) {
        return 0;
    }
    strata_image_open(&image, (data[0] & 1) != 0);
    image.moving = (data[0] & 2) != 0;
    memset(image.present, 1, 64);
    patch(&image, data + 1, bytes - 1);
    strata_image_read(&image);
    const struct strata_facts *facts = &image.process.strata;
    if (facts->state == FACT_OK &&
        facts->in_use_bytes + facts->cached_bytes + facts->free_bytes !=
            facts->held_bytes) {
        abort();
    }
    if (facts->state != FACT_OK && facts->state != FACT_STALE && facts->class_count > 0) {
        abort();
    }
    strata_image_close(&image);
    return 0;
}
