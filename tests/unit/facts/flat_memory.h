/* flat_memory.h - the memory of a process as one stretch of bytes of the test. */
#ifndef STRATA_TESTS_FLAT_MEMORY_H
#define STRATA_TESTS_FLAT_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/memory.h"

enum { FLAT_MEMORY_PAGE = 4096 };

struct flat_memory {
    struct memory memory; /* first */
    uint64_t start;
    size_t bytes;
    uint8_t *data;    /* bytes of them */
    uint8_t *present; /* the bits of each page */
    bool touched_absent;
    void (*before_read)(size_t bytes); /* NULL: nothing happens */
};

/* All pages are present. Both arrays stay the caller's. */
void flat_memory_init(struct flat_memory *flat, uint64_t start, uint8_t *data,
    uint8_t *present, size_t bytes);

void flat_memory_put(struct flat_memory *flat, uint64_t address, uint64_t word);

#endif
