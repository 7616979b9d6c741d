/*
 * fuzz_glibc_find.c - hostile data of libc. The first byte chooses the layout of the image,
 * the rest is copied over libc's writable data (main_arena, mp_) and then over its text, as
 * far as it reaches. The search must end and stay inside what is present.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/facts/glibc_image.h"
#include "facts/glibc.h"

enum { REGION_BYTES = 64 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static struct glibc_image image;
    struct process_facts process;
    struct region region;
    size_t left = bytes - 1;

    if (bytes < 1) {
        return 0;
    }
    glibc_image_init(&image, (enum glibc_layout_id)(data[0] % GLIBC_LAYOUT_COUNT));
    region_init(&region, REGION_BYTES);
    if (left > GLIBC_IMAGE_DATA_BYTES) {
        const size_t text = left - GLIBC_IMAGE_DATA_BYTES;
        memcpy(image.data[GLIBC_IMAGE_TEXT], data + 1 + GLIBC_IMAGE_DATA_BYTES,
            text < GLIBC_IMAGE_TEXT_BYTES ? text : GLIBC_IMAGE_TEXT_BYTES);
        left = GLIBC_IMAGE_DATA_BYTES;
    }
    memcpy(image.data[GLIBC_IMAGE_DATA], data + 1, left);
    glibc_image_process(&image, &process);
    (void)glibc_read(&image.memory, &region, &process);
    if (image.touched_absent) {
        abort();
    }
    region_release(&region);
    glibc_image_release(&image);
    return 0;
}
