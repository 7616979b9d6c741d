/* paged_memory.h - a read of memory that a test has page by page. */
#ifndef STRATA_TESTS_PAGED_MEMORY_H
#define STRATA_TESTS_PAGED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "facts/memory.h"

/*
 * The operation read() for a source whose page_of gives the bytes of the page at that address
 * until it is asked again, or NULL where none is: then the read is -EFAULT.
 */
int paged_memory_read(struct memory *memory, uint64_t address, void *data, size_t bytes,
    const uint8_t *(*page_of)(struct memory *memory, uint64_t page));

#endif
