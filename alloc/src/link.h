/*
 * Free-list links: a pointer moved up by 16 bits and xored with the heap's secret. The
 * first two bytes in memory and the three alignment bits have to decode to zero, so that
 * an overflow of the block before, or a write to a freed block, is seen with all but
 * 2^-19 of chance; and the first word of a live block seldom looks like a link.
 */
#ifndef STRATA_LINK_H
#define STRATA_LINK_H

#include <stdint.h>

#include "track.h"

#define STRATA__LINK_SHIFT 16
#define STRATA__LINK_ZERO_BITS UINT64_C(0x7ffff)

/* A link word of zeroes must not decode: bit 0 of the secret is set. */
static inline uint64_t strata__link_key(uint64_t secret)
{
    return secret | 1;
}

static inline uint64_t strata__link_encode(uint64_t key, const void *next)
{
    return ((uint64_t)(uintptr_t)next << STRATA__LINK_SHIFT) ^ key;
}

static inline int strata__link_valid(uint64_t key, uint64_t word)
{
    return ((word ^ key) & STRATA__LINK_ZERO_BITS) == 0;
}

static inline void *strata__link_decode(uint64_t key, uint64_t word)
{
    return (void *)(uintptr_t)((word ^ key) >> STRATA__LINK_SHIFT);
}

/* The first word of a free block. */
static inline uint64_t strata__link_read(const void *block)
{
    strata__track_open(block, sizeof(uint64_t));
    uint64_t word = *(const uint64_t *)block;
    strata__track_close(block, sizeof(uint64_t));
    return word;
}

/* A block that leaves its list must not look like one on it, should the caller never
 * write to its first word. (Zero does not decode: see strata__link_key.) */
static inline void strata__link_clear(void *block)
{
    strata__track_open(block, sizeof(uint64_t));
    *(uint64_t *)block = 0;
    strata__track_close(block, sizeof(uint64_t));
}

static inline void strata__link_write(uint64_t key, void *block, const void *next)
{
    strata__track_open(block, sizeof(uint64_t));
    *(uint64_t *)block = strata__link_encode(key, next);
    strata__track_close(block, sizeof(uint64_t));
}

#endif
