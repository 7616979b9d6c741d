/*
 * random_number.h - a simple random sequence (xorshift64*, Vigna 2016), the same in each run.
 */
#ifndef STRATA_LABS_COMMON_RANDOM_NUMBER_H
#define STRATA_LABS_COMMON_RANDOM_NUMBER_H

#include <stdint.h>

/* A state for the sequence with this number; never 0. */
static inline uint64_t random_seed(uint64_t number)
{
    return (number * UINT64_C(0x9E3779B97F4A7C15)) | 1;
}

static inline uint64_t random_number(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(0x2545F4914F6CDD1D);
}

#endif
