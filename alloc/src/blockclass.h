/*
 * The block classes of the malloc replacement: pure tables, no state. 8 bytes, multiples
 * of 16 up to 256, then eight steps to each doubling up to 4 KiB, so that rounding up
 * wastes at most a ninth of a block, and four up to 32 KiB. Every power of two is a class
 * of its own.
 *
 * Blocks lie in slabs of their own class (central.c) or, but for the first classes, in
 * units of 64 KiB that all classes share (mixed.c).
 */
#ifndef STRATA_BLOCKCLASS_H
#define STRATA_BLOCKCLASS_H

#include <stddef.h>
#include <stdint.h>

#define STRATA__BLOCK_CLASSES 64U
#define STRATA__SLAB_CLASSES 4U /* 8, 16, 32 and 48 bytes */
#define STRATA__BLOCK_MAX ((size_t)32768)
/* Classes above, of one block each slab, serve only what CPUs have room for (front.c). */
#define STRATA__WIDE_CLASS 61U
#define STRATA__WIDE_MAX ((size_t)65536)
/* The first class of which a CPU may keep more when much is in use. */
#define STRATA__ROOMY_CLASS 49U
/* Sizes up to here find their class by one load. */
#define STRATA__BLOCK_TABLE_MAX ((size_t)1024)
/* The most blocks that move between a CPU and the central lists at once. */
#define STRATA__BLOCK_BATCH_MAX 64U

struct strata__block_class {
    uint32_t bytes;
    uint32_t magic;  /* ceil(2^32 / bytes): offset to index by one multiplication */
    uint16_t blocks; /* in a slab */
    /* The most blocks that one CPU keeps: of 16 KiB, from 512 bytes on 32; and when much
     * is in use. */
    uint16_t capacity, most;
};

extern const struct strata__block_class strata__block_classes[STRATA__BLOCK_CLASSES];
/* Class of a size, by (bytes + 7) / 8, for bytes up to STRATA__BLOCK_TABLE_MAX. */
extern const uint8_t strata__block_class_of_words[STRATA__BLOCK_TABLE_MAX / 8 + 1];

/* bytes <= STRATA__BLOCK_MAX; 0 bytes are of class 0. */
static inline unsigned strata__block_class_of(size_t bytes)
{
    if (bytes <= STRATA__BLOCK_TABLE_MAX) {
        return strata__block_class_of_words[(bytes + 7) / 8];
    }
    /* The bits below the highest bit of bytes - 1 say which of the steps. Class 33 is the
     * first above 1 KiB, 2 to the power of 10; from 4 KiB on there are four steps. */
    unsigned doubling = 63U - (unsigned)__builtin_clzll(bytes - 1);
    if (doubling < 12) {
        return 33 + (doubling - 10) * 8 + (unsigned)((bytes - 1) >> (doubling - 3) & 7);
    }
    return 49 + (doubling - 12) * 4 + (unsigned)((bytes - 1) >> (doubling - 2) & 3);
}

/* Of more than STRATA__BLOCK_MAX and at most STRATA__WIDE_MAX bytes. */
static inline unsigned strata__wide_class_of(size_t bytes)
{
    return STRATA__WIDE_CLASS + (bytes > 40960) + (bytes > 49152);
}

/* Which block of a slab an offset below 64 KiB lies in. */
static inline unsigned strata__block_index(
    const struct strata__block_class *class, size_t offset_bytes)
{
    return (unsigned)((uint64_t)offset_bytes * class->magic >> 32);
}

#endif
