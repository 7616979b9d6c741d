/*
 * paged_memory.c - a read, cut at the borders of pages.
 *
 * For memory that is no stretch of bytes: what was recorded of a process, or what a test makes up
 * when it is asked.
 */
#include "paged_memory.h"

#include <errno.h>
#include <string.h>

int paged_memory_read(struct memory *memory, uint64_t address, void *data, size_t bytes,
    const uint8_t *(*page_of)(struct memory *memory, uint64_t page))
{
    uint8_t *to = data;

    while (bytes > 0) {
        const uint64_t inside = address % memory->page_bytes;
        const size_t left = (size_t)(memory->page_bytes - inside);
        const size_t piece = bytes < left ? bytes : left;
        const uint8_t *page = page_of(memory, address - inside);
        if (page == NULL) {
            return -EFAULT;
        }
        memcpy(to, page + inside, piece);
        to += piece;
        address += piece;
        bytes -= piece;
    }
    return 0;
}
