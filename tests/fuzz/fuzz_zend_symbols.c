/*
 * fuzz_zend_symbols.c - a hostile ELF image: the input is the image's memory. Look-ups
 * must end and stay inside it, and the decoder must not read past the code.
 */
#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "facts/zend_symbols.h"

struct image {
    struct memory memory; /* first */
    const uint8_t *data;
    size_t bytes;
};

static const uint64_t image_base = 0x400000;

static int image_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    const struct image *image = (const struct image *)(const void *)memory;
    uint64_t offset = address - image_base;

    if (address < image_base || offset > image->bytes || bytes > image->bytes - offset) {
        return -EFAULT;
    }
    memcpy(data, image->data + offset, bytes);
    return 0;
}

static int image_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    (void)memory;
    (void)address;
    memset(bits, PAGE_PRESENT, count);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    static const struct memory_operations operations = {
        .read = image_read, .pages = image_pages};
    static const uint16_t machines[] = {62, 183, 3}; /* x86-64, aarch64, i386 */
    struct image image = {
        .memory = {.operations = &operations, .page_bytes = 4096},
        .data = data,
        .bytes = bytes,
    };
    struct zend_symbols symbols;
    uint64_t global;

    (void)zend_symbols_read(&image.memory, image_base, &symbols);
    for (size_t i = 0; i < 3; i++) {
        (void)zend_decode_load(data, bytes, image_base, machines[i], &global);
    }
    return 0;
}
