/* bits.h - masks over bitmaps of 64-bit words, one bit for each page. */
#ifndef STRATA_ALLOC_BITS_H
#define STRATA_ALLOC_BITS_H

#include <stdint.h>

enum { STRATA__WORD_BITS = 64 };

/* Bits of the word of that index which belong to the pages [first, end). */
static inline uint64_t strata__bits_in_word(uint32_t index, uint32_t first, uint32_t end)
{
    uint32_t start = index * STRATA__WORD_BITS;
    uint64_t mask = UINT64_MAX;
    if (first > start) {
        mask &= UINT64_MAX << (first - start);
    }
    if (end < start + STRATA__WORD_BITS) {
        mask &= ~(UINT64_MAX << (end - start));
    }
    return mask;
}

#endif
