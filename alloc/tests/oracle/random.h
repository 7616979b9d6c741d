/*
 * A random source for lists of operations: the same seed gives the same list everywhere.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_RANDOM_H
#define STRATA_ALLOC_TESTS_ORACLE_RANDOM_H

#include <stdint.h>

/* splitmix64: one multiplication chain per number, any seed is good. */
static inline uint64_t random_next(uint64_t *state)
{
    uint64_t value = (*state += 0x9e3779b97f4a7c15U);
    value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9U;
    value = (value ^ (value >> 27)) * 0x94d049bb133111ebU;
    return value ^ (value >> 31);
}

/* A number from 0 to bound - 1. */
static inline uint32_t random_below(uint64_t *state, uint32_t bound)
{
    return (uint32_t)(random_next(state) % bound);
}

#endif
