/* distribution.h - what one worker takes at different moments, and what many take at once. */
#ifndef STRATA_PLAN_DISTRIBUTION_H
#define STRATA_PLAN_DISTRIBUTION_H

#include <stddef.h>
#include <stdint.h>

/* Moments and quantiles of samples in bytes. All zero when there are none. */
struct distribution {
    size_t count;
    uint64_t least_bytes;
    uint64_t median_bytes;
    uint64_t p95_bytes;
    uint64_t most_bytes;
    double mean_bytes;
    double deviation_bytes; /* of the population: divided by count */
    double skewness;        /* third standardised moment; 0 without deviation */
};

/* Sorts samples, which are the caller's. */
struct distribution distribution_of(uint64_t *samples, size_t count);

/* The quantile (0 to 1) of sorted samples by nearest rank; 0 without samples. */
uint64_t distribution_quantile(const uint64_t *sorted, size_t count, double quantile);

/*
 * The 95th percentile of the sum of workers independent draws: the normal approximation
 * with the first term of Cornish and Fisher for skewness, never below the mean and never
 * above workers times the largest sample. Grows with workers.
 */
double distribution_sum_p95(const struct distribution *distribution, uint64_t workers);

#endif
