/*
 * memory.c - the checks in front of every source of another process's memory.
 *
 * Addresses come from the target and may be anything: no range may wrap, and nothing is read
 * that is not present. The state of a page may change between the look and the read; then an
 * absent page is read after all, which costs the target a page table entry and no more.
 */
#include "facts/memory.h"

#include <errno.h>
#include <string.h>

enum {
    LOOK_PAGES = 512, /* pages looked up at a time */
    COUNT_PAGES = 4096,
};

int memory_read(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    if (address > UINT64_MAX - bytes) {
        return -EFAULT;
    }
    int rc = memory->operations->read(memory, address, data, bytes);
    if (rc == 0) {
        memory->bytes_read += bytes;
    }
    return rc;
}

/* Both ways to look at pages, by whole ones that do not wrap. */
static int look(struct memory *memory, uint64_t address, size_t count, uint8_t *bits,
    bool only_present)
{
    const struct memory_operations *operations = memory->operations;
    const uint64_t first = address / memory->page_bytes;

    if (count == 0) {
        return 0;
    }
    if (count > UINT64_MAX / memory->page_bytes - first) {
        return -EFAULT;
    }
    if (only_present && operations->present != NULL) {
        return operations->present(memory, first * memory->page_bytes, count, bits);
    }
    return operations->pages(memory, first * memory->page_bytes, count, bits);
}

int memory_pages(struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    return look(memory, address, count, bits, false);
}

int memory_present(struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    return look(memory, address, count, bits, true);
}

static int all_present(struct memory *memory, uint64_t address, size_t bytes)
{
    uint8_t bits[LOOK_PAGES];
    uint64_t page = address / memory->page_bytes;
    const uint64_t last = (address + bytes - 1) / memory->page_bytes;

    while (page <= last) {
        const uint64_t left = last - page + 1;
        const size_t count = left < LOOK_PAGES ? (size_t)left : LOOK_PAGES;
        int rc = memory_present(memory, page * memory->page_bytes, count, bits);
        if (rc != 0) {
            return rc;
        }
        for (size_t i = 0; i < count; i++) {
            if ((bits[i] & PAGE_PRESENT) == 0) {
                return -ENODATA;
            }
        }
        page += count;
    }
    return 0;
}

int memory_read_present(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    if (bytes == 0) {
        return 0;
    }
    if (address > UINT64_MAX - bytes) {
        return -EFAULT;
    }
    int rc = all_present(memory, address, bytes);
    return rc != 0 ? rc : memory_read(memory, address, data, bytes);
}

static bool is_about_place(int result)
{
    return result == -ENODATA || result == -EFAULT;
}

static int read_each(struct memory *memory, const uint64_t *addresses, size_t count,
    size_t bytes, uint8_t *data, bool *was_read)
{
    for (size_t i = 0; i < count; i++) {
        if (was_read[i]) {
            int rc = memory_read(memory, addresses[i], data + i * bytes, bytes);
            if (rc != 0 && !is_about_place(rc)) {
                return rc;
            }
            was_read[i] = rc == 0;
        }
    }
    return 0;
}

int memory_read_scattered(struct memory *memory, const uint64_t *addresses, size_t count,
    size_t bytes, uint8_t *data, bool *was_read)
{
    uint64_t present[MEMORY_SCATTERED];
    bool got[MEMORY_SCATTERED];
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        int rc = bytes == 0 || addresses[i] > UINT64_MAX - bytes
                     ? -EFAULT
                     : all_present(memory, addresses[i], bytes);
        if (rc != 0 && !is_about_place(rc)) {
            return rc;
        }
        was_read[i] = rc == 0;
        if (was_read[i]) {
            present[found++] = addresses[i];
        }
    }
    if (memory->operations->read_scattered == NULL || found == 0) {
        return read_each(memory, addresses, count, bytes, data, was_read);
    }
    int rc = memory->operations->read_scattered(memory, present, found, bytes, data, got);
    if (rc != 0) {
        return rc;
    }
    memory->bytes_read += found * bytes;
    /* From the last one down, each moves to its own place, which is no lower. */
    for (size_t i = count; i > 0; i--) {
        if (was_read[i - 1]) {
            found--;
            was_read[i - 1] = got[found];
            memmove(data + (i - 1) * bytes, data + found * bytes, bytes);
        }
    }
    return 0;
}

bool memory_next_populated(struct memory *memory, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop)
{
    if (address >= end) {
        return false;
    }
    if (memory->operations->next_populated != NULL) {
        return memory->operations->next_populated(memory, address, end, start, stop);
    }
    *start = address;
    *stop = end;
    return true;
}

/* The present pages of whole pages that may be populated. */
static int count_piece(
    struct memory *memory, uint64_t start, uint64_t end, uint64_t *present_pages)
{
    uint8_t bits[COUNT_PAGES];

    while (start < end) {
        const uint64_t pages =
            (end - start + memory->page_bytes - 1) / memory->page_bytes;
        const size_t count = pages < COUNT_PAGES ? (size_t)pages : COUNT_PAGES;
        int rc = memory_present(memory, start, count, bits);
        if (rc != 0) {
            return rc;
        }
        for (size_t i = 0; i < count; i++) {
            *present_pages += (bits[i] & PAGE_PRESENT) != 0;
        }
        start += count * memory->page_bytes;
    }
    return 0;
}

int memory_count_present(
    struct memory *memory, uint64_t start, uint64_t end, uint64_t *present_pages)
{
    const uint64_t page_mask = memory->page_bytes - 1;
    uint64_t at = start & ~page_mask;
    uint64_t from;
    uint64_t stop;

    *present_pages = 0;
    if (end < start || end > UINT64_MAX - page_mask) {
        return -EFAULT;
    }
    end = (end + page_mask) & ~page_mask;
    while (memory_next_populated(memory, at, end, &from, &stop)) {
        int rc = count_piece(memory, from, stop, present_pages);
        if (rc != 0) {
            return rc;
        }
        at = stop;
    }
    return 0;
}

int memory_read_word(struct memory *memory, uint64_t address, uint64_t *word)
{
    uint8_t bytes[sizeof(*word)];
    int rc = memory_read_present(memory, address, bytes, sizeof(bytes));

    if (rc != 0) {
        return rc;
    }
    *word = 0;
    for (size_t i = 0; i < sizeof(bytes); i++) {
        *word |= (uint64_t)bytes[i] << (8 * i);
    }
    return 0;
}
