/*
 * fuzz_glibc_walk.c - the whole glibc reader on a damaged heap. The first byte chooses the
 * layout; then each record of 11 bytes writes a word somewhere into the image (part, offset in
 * words, word), or makes a page absent. The reader must end, must not read absent pages, and
 * what it calls exact must add up.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/facts/glibc_image.h"
#include "facts/glibc.h"
#include "facts/span_list.h"

enum { RECORD_BYTES = 11, DROP_FLAG = 0x80, WORD_BYTES = 8, REGION_BYTES = 64 << 20 };

static void apply(struct glibc_image *image, const uint8_t *record)
{
    const int part = (record[0] & ~DROP_FLAG) % GLIBC_IMAGE_PARTS;
    const struct mapping *mapping = &image->mappings[part];
    const uint64_t offset = ((uint64_t)record[1] | (uint64_t)record[2] << 8) * WORD_BYTES;
    const uint64_t address = mapping->start + offset % (mapping->end - mapping->start);
    uint64_t word;

    if ((record[0] & DROP_FLAG) != 0) {
        glibc_image_drop(image, address / GLIBC_IMAGE_PAGE * GLIBC_IMAGE_PAGE,
            address / GLIBC_IMAGE_PAGE * GLIBC_IMAGE_PAGE + GLIBC_IMAGE_PAGE);
        return;
    }
    memcpy(&word, record + 3, sizeof(word));
    glibc_image_put(image, address, word);
}

static void check(const struct glibc_image *image, const struct process_facts *process)
{
    if (image->touched_absent) {
        abort();
    }
    for (size_t i = 0; i < process->glibc.arena_count; i++) {
        const struct glibc_arena *arena = &process->glibc.arenas[i];
        if (arena->state != FACT_OK && arena->why == NULL) {
            abort();
        }
        if (arena->state == FACT_OK &&
            arena->held_bytes != arena->in_use_bytes + arena->free_bytes +
                                     arena->fast_bytes + arena->top_bytes +
                                     arena->overhead_bytes) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct glibc_image image;
    struct process_facts process;
    struct region region;

    if (bytes < 1) {
        return 0;
    }
    glibc_image_init(&image, (enum glibc_layout_id)(data[0] % GLIBC_LAYOUT_COUNT));
    region_init(&region, REGION_BYTES);
    for (size_t at = 1; at + RECORD_BYTES <= bytes; at += RECORD_BYTES) {
        apply(&image, data + at);
    }
    glibc_image_process(&image, &process);
    (void)glibc_read(&image.memory, &region, &process);
    check(&image, &process);
    span_list_settle(process.spans, &process.span_count);
    region_release(&region);
    glibc_image_release(&image);
    return 0;
}
