/*
 * Blocks above STRATA__BLOCK_MAX: large ones are units of the unit heap, huge ones are
 * mappings of their own (huge.c). Both are multiples of a page and start on one.
 */
#ifndef STRATA_LARGE_H
#define STRATA_LARGE_H

#include <stddef.h>
#include <stdint.h>

#include "unitmap.h"

/* Above it a block has a mapping of its own. */
#define STRATA__LARGE_MAX_BYTES ((size_t)32 << 20)

/* bytes > 0, alignment a power of two. *zeroed says whether the block reads as zeroes.
 * NULL when the system gives no memory. */
void *strata__large_alloc(size_t bytes, size_t alignment, int *zeroed);
/* `entry` is the map's for `block` and of kind large or huge; anything but the start of a
 * block is fatal. */
void strata__large_free(void *block, uint64_t entry);
/* Where the block that an entry of these kinds stands for starts. */
const void *strata__large_start(uint64_t entry);
size_t strata__large_bytes(const void *block, uint64_t entry);
/* The block with at least `bytes`, moved only if it is huge; NULL when it must be copied,
 * and then nothing has changed. */
void *strata__large_resize(void *block, uint64_t entry, size_t bytes);

#endif
