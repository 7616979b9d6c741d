/*
 * fuzz_malloc.c - the malloc replacement against operations out of any bytes.
 *
 * Three bytes are one operation: what, on which block, how large. Each block carries a
 * pattern; after each operation everything is recounted and compared with the blocks
 * that this program knows.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "front_figures.h"
#include "fuzz_blocks.h"

#include "front.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void *allocate(struct fuzz_blocks *blocks, enum fuzz_kind kind, size_t bytes)
{
    (void)blocks;
    if (kind == FUZZ_CALLOC) {
        return strata__front_calloc(1, bytes);
    }
    if (kind == FUZZ_ALIGNED) {
        return strata__front_aligned(fuzz_alignment(bytes), bytes);
    }
    return strata__front_alloc(bytes);
}

static void *resize(struct fuzz_blocks *blocks, void *block, size_t bytes)
{
    (void)blocks;
    return strata__front_realloc(block, bytes);
}

static void release(struct fuzz_blocks *blocks, void *block)
{
    (void)blocks;
    strata__front_free(block);
}

static void trim(struct fuzz_blocks *blocks)
{
    (void)blocks;
    (void)strata__front_trim();
}

static size_t usable(struct fuzz_blocks *blocks, void *block)
{
    (void)blocks;
    return strata__front_usable(block);
}

static void recount(const struct fuzz_blocks *blocks)
{
    struct strata__front_stats stats;

    strata__front_check();
    strata__front_get_stats(&stats);
    fuzz_expect(stats.in_use_bytes == fuzz_usable_bytes(blocks));
    fuzz_expect(stats.in_use_blocks == fuzz_block_count(blocks));
    fuzz_expect(stats.free_bytes <= stats.resident_bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_blocks blocks = {.allocate = allocate,
        .resize = resize,
        .release = release,
        .trim = trim,
        .usable = usable,
        .recount = recount};

    fuzz_operations(&blocks, data, size);
    return 0;
}
