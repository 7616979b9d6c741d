/*
 * The granules of a mixed unit as bits, set where a granule is free: runs of them, and the
 * pages that they lie on. Ranges are [first, end).
 */
#ifndef STRATA_GRANULES_H
#define STRATA_GRANULES_H

#include <stddef.h>
#include <stdint.h>

#include "bits.h"
#include "unitmap.h"

#define STRATA__GRANULE_BYTES ((size_t)16)
#define STRATA__GRANULES (STRATA__UNIT_BYTES / STRATA__GRANULE_BYTES)
#define STRATA__GRANULE_WORDS (STRATA__GRANULES / STRATA__WORD_BITS)
#define STRATA__PAGE_GRANULES 256U

/* The next free (or with `invert` set to all ones, used) granule from `at` on. */
static inline unsigned strata__granule_next(
    const uint64_t *bits, unsigned at, uint64_t invert)
{
    unsigned word = at / STRATA__WORD_BITS;
    if (word >= STRATA__GRANULE_WORDS) {
        return STRATA__GRANULES;
    }
    uint64_t left = (bits[word] ^ invert) & UINT64_MAX << at % STRATA__WORD_BITS;
    while (left == 0) {
        word++;
        if (word >= STRATA__GRANULE_WORDS) {
            return STRATA__GRANULES;
        }
        left = bits[word] ^ invert;
    }
    return word * STRATA__WORD_BITS + (unsigned)__builtin_ctzll(left);
}

/* Where the free run that contains `at` begins. */
static inline unsigned strata__granule_run_start(const uint64_t *bits, unsigned at)
{
    unsigned word = at / STRATA__WORD_BITS;
    uint64_t used = ~bits[word] & ~(UINT64_MAX << at % STRATA__WORD_BITS);
    while (used == 0) {
        if (word == 0) {
            return 0;
        }
        word--;
        used = ~bits[word];
    }
    return word * STRATA__WORD_BITS + STRATA__WORD_BITS - (unsigned)__builtin_clzll(used);
}

/* Flips the bits of a range that are all alike. */
static inline void strata__granule_flip(uint64_t *bits, unsigned first, unsigned end)
{
    unsigned word = first / STRATA__WORD_BITS;
    unsigned last = (end - 1) / STRATA__WORD_BITS;
    uint64_t mask = UINT64_MAX << first % STRATA__WORD_BITS;
    for (; word < last; word++) {
        bits[word] ^= mask;
        mask = UINT64_MAX;
    }
    bits[last] ^=
        mask & UINT64_MAX >> (STRATA__WORD_BITS - 1 - (end - 1) % STRATA__WORD_BITS);
}

/* Bits of the pages that the granules of a range lie on. */
static inline uint16_t strata__granule_pages(unsigned first, unsigned end)
{
    return (uint16_t)((2U << (end - 1) / STRATA__PAGE_GRANULES) -
                      (1U << first / STRATA__PAGE_GRANULES));
}

#endif
