/*
 * flat_memory.c - reads a stretch of bytes as if it were the memory of a process.
 *
 * Outside of the stretch nothing is mapped. A read of a page that is not present succeeds, as
 * with a process, and is noted: readers must not do so.
 */
#include "flat_memory.h"

#include <errno.h>
#include <string.h>

static int read_flat(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct flat_memory *flat = (struct flat_memory *)(void *)memory;
    const uint64_t offset = address - flat->start;

    if (address < flat->start || offset > flat->bytes || bytes > flat->bytes - offset) {
        return -EFAULT;
    }
    if (flat->before_read != NULL) {
        flat->before_read(bytes);
    }
    for (uint64_t page = offset / FLAT_MEMORY_PAGE;
         page <= (offset + bytes - 1) / FLAT_MEMORY_PAGE; page++) {
        flat->touched_absent = flat->touched_absent || flat->present[page] == 0;
    }
    memcpy(data, flat->data + offset, bytes);
    return 0;
}

static int pages_of_flat(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    const struct flat_memory *flat = (const struct flat_memory *)(const void *)memory;

    for (size_t i = 0; i < count; i++) {
        const uint64_t at = address + i * FLAT_MEMORY_PAGE;
        const bool inside = at >= flat->start && at < flat->start + flat->bytes;
        bits[i] = inside ? flat->present[(at - flat->start) / FLAT_MEMORY_PAGE] : 0;
    }
    return 0;
}

/* Both are written to: NOLINTNEXTLINE(readability-non-const-parameter) */
void flat_memory_init(struct flat_memory *flat, uint64_t start, uint8_t *data,
    uint8_t *present, size_t bytes)
{
    static const struct memory_operations operations = {
        .read = read_flat, .pages = pages_of_flat};

    *flat = (struct flat_memory){
        .memory = {.operations = &operations, .page_bytes = FLAT_MEMORY_PAGE},
        .start = start,
        .bytes = bytes,
        .data = data,
        .present = present};
    memset(present, PAGE_PRESENT, bytes / FLAT_MEMORY_PAGE);
}

void flat_memory_put(struct flat_memory *flat, uint64_t address, uint64_t word)
{
    memcpy(flat->data + (address - flat->start), &word, sizeof(word));
}
