/* fuzz_blocks.h - operations on blocks of an allocator, out of any bytes, and what must hold. */
#ifndef STRATA_TESTS_FUZZ_BLOCKS_H
#define STRATA_TESTS_FUZZ_BLOCKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { FUZZ_BLOCKS = 64 };

enum fuzz_kind {
    FUZZ_ALLOC,
    FUZZ_CALLOC,
    FUZZ_ALIGNED,
    FUZZ_RESIZE,
    FUZZ_FREE,
    FUZZ_TRIM,
    FUZZ_KINDS
};

struct fuzz_block {
    unsigned char *start; /* NULL: none */
    size_t bytes;
    unsigned char pattern;
};

/* The allocator, and the blocks that it has handed out. */
struct fuzz_blocks {
    void *context;
    bool may_refuse;
    void *(*allocate)(struct fuzz_blocks *, enum fuzz_kind, size_t bytes);
    void *(*resize)(struct fuzz_blocks *, void *block, size_t bytes);
    void (*release)(struct fuzz_blocks *, void *block);
    void (*trim)(struct fuzz_blocks *);
    size_t (*usable)(struct fuzz_blocks *, void *block);
    void (*recount)(const struct fuzz_blocks *); /* after each operation */
    struct fuzz_block blocks[FUZZ_BLOCKS];
};

/* Aborts when it does not hold: that is what a fuzzer sees. */
void fuzz_expect(bool holds);

/* Runs them; frees every block at the end. */
void fuzz_operations(struct fuzz_blocks *blocks, const uint8_t *data, size_t size);

/* A power of two from 8 to 32 KiB, the same for the same size. */
size_t fuzz_alignment(size_t bytes);

size_t fuzz_block_count(const struct fuzz_blocks *blocks);
size_t fuzz_usable_bytes(const struct fuzz_blocks *blocks);

#endif
