/*
 * fuzz_blocks.c - what the fuzz targets of both allocators share.
 *
 * Blocks are filled with a pattern, larger ones at their ends and once in each page, so
 * that blocks which overlap, move without their contents or are given to the kernel while
 * they live are seen.
 */
#include "fuzz_blocks.h"

#include <stdlib.h>
#include <string.h>

enum { PAGE_BYTES = 4096, OPERATION_BYTES = 3, OPERATIONS_MAX = 200 };

void fuzz_expect(bool holds)
{
    if (!holds) {
        abort();
    }
}

size_t fuzz_alignment(size_t bytes)
{
    return (size_t)8 << bytes % 13;
}

size_t fuzz_block_count(const struct fuzz_blocks *blocks)
{
    size_t count = 0;

    for (size_t i = 0; i < FUZZ_BLOCKS; i++) {
        count += blocks->blocks[i].start != NULL;
    }
    return count;
}

size_t fuzz_usable_bytes(const struct fuzz_blocks *blocks)
{
    struct fuzz_blocks *asked = (struct fuzz_blocks *)blocks;
    size_t bytes = 0;

    for (size_t i = 0; i < FUZZ_BLOCKS; i++) {
        if (blocks->blocks[i].start != NULL) {
            bytes += blocks->usable(asked, blocks->blocks[i].start);
        }
    }
    return bytes;
}

static size_t step_of(size_t bytes)
{
    return bytes <= PAGE_BYTES ? 1 : PAGE_BYTES;
}

static void fill(struct fuzz_block *block, unsigned char pattern)
{
    block->pattern = pattern;
    for (size_t at = 0; at < block->bytes; at += step_of(block->bytes)) {
        block->start[at] = pattern;
    }
    if (block->bytes > 0) {
        block->start[block->bytes - 1] = pattern;
    }
}

/* `whole`: the end is marked as well; else only the first bytes are those of before. */
static void verify(const struct fuzz_block *block, size_t bytes, size_t step, bool whole)
{
    for (size_t at = 0; at < bytes; at += step) {
        fuzz_expect(block->start[at] == block->pattern);
    }
    fuzz_expect(!whole || bytes == 0 || block->start[bytes - 1] == block->pattern);
}

/* Small sizes by the byte, then steps up to some MiB, so that each kind of block is met. */
static size_t size_of(uint8_t byte)
{
    if (byte < 128) {
        return byte;
    }
    return byte < 224 ? (size_t)(byte - 127) * 337 : (size_t)(byte - 223) * 190111;
}

/* Each byte: most of the time a target takes goes into this. */
static bool is_zeroed(const unsigned char *start, size_t bytes)
{
    return bytes == 0 || (start[0] == 0 && memcmp(start, start + 1, bytes - 1) == 0);
}

static void create(struct fuzz_blocks *blocks, struct fuzz_block *block,
    enum fuzz_kind kind, uint8_t size)
{
    block->bytes = size_of(size);
    block->start = blocks->allocate(blocks, kind, block->bytes);
    fuzz_expect(block->start != NULL || blocks->may_refuse);
    if (block->start == NULL) {
        return;
    }
    fuzz_expect(kind != FUZZ_ALIGNED ||
                (uintptr_t)block->start % fuzz_alignment(block->bytes) == 0);
    fuzz_expect(blocks->usable(blocks, block->start) >= block->bytes);
    fuzz_expect(kind != FUZZ_CALLOC || is_zeroed(block->start, block->bytes));
    fill(block, (unsigned char)(size | 1));
}

static void change(struct fuzz_blocks *blocks, struct fuzz_block *block, uint8_t size)
{
    const size_t before = block->bytes;
    const size_t bytes = size_of(size) + 1;
    unsigned char *moved = blocks->resize(blocks, block->start, bytes);

    fuzz_expect(moved != NULL || blocks->may_refuse);
    if (moved == NULL) {
        return; /* the old block stays, and is verified later */
    }
    block->start = moved;
    block->bytes = bytes;
    verify(block, before < bytes ? before : bytes, step_of(before), before <= bytes);
    fill(block, (unsigned char)(size | 1));
}

static void drop(struct fuzz_blocks *blocks, struct fuzz_block *block)
{
    verify(block, block->bytes, step_of(block->bytes), true);
    blocks->release(blocks, block->start);
    block->start = NULL;
}

static void run(struct fuzz_blocks *blocks, const uint8_t *operation)
{
    struct fuzz_block *block = &blocks->blocks[operation[1] % FUZZ_BLOCKS];
    const enum fuzz_kind kind = (enum fuzz_kind)(operation[0] % FUZZ_KINDS);

    if (kind == FUZZ_TRIM) {
        blocks->trim(blocks);
    } else if (block->start == NULL) {
        create(blocks, block, kind, operation[2]);
    } else if (kind == FUZZ_RESIZE) {
        change(blocks, block, operation[2]);
    } else {
        drop(blocks, block);
    }
}

void fuzz_operations(struct fuzz_blocks *blocks, const uint8_t *data, size_t size)
{
    for (size_t i = 0; i < OPERATIONS_MAX && size >= OPERATION_BYTES; i++) {
        run(blocks, data);
        blocks->recount(blocks);
        data += OPERATION_BYTES;
        size -= OPERATION_BYTES;
    }
    for (size_t i = 0; i < FUZZ_BLOCKS; i++) {
        if (blocks->blocks[i].start != NULL) {
            drop(blocks, &blocks->blocks[i]);
        }
    }
    blocks->recount(blocks);
}
