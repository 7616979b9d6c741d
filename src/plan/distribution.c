/*
 * distribution.c - moments, quantiles, and the sum of many draws.
 *
 * Pools are sized by what all workers take at the same moment. With a rare heavy request
 * neither the mean nor the largest sample tells that: the sum's 95th percentile does. For
 * n draws with mean m, deviation s and skewness g it is n m + s (z sqrt(n) + g (z^2 - 1) / 6)
 * (Cornish and Fisher 1938, first order), z = 1.645. The third term matters for small
 * pools with a long tail; it does not grow with n, so the whole grows with n.
 */
#include "plan/distribution.h"

#include <math.h>
#include <stdlib.h>

static const double z95 = 1.6448536;

static int compare(const void *a, const void *b)
{
    const uint64_t left = *(const uint64_t *)a;
    const uint64_t right = *(const uint64_t *)b;

    return left < right ? -1 : left > right;
}

uint64_t distribution_quantile(const uint64_t *sorted, size_t count, double quantile)
{
    if (count == 0) {
        return 0;
    }
    const double rank = ceil(quantile * (double)count);
    const size_t index = rank < 1 ? 0 : (size_t)rank - 1;
    return sorted[index < count ? index : count - 1];
}

struct distribution distribution_of(uint64_t *samples, size_t count)
{
    struct distribution result = {.count = count};
    double squares = 0;
    double cubes = 0;

    if (count == 0) {
        return result;
    }
    qsort(samples, count, sizeof(*samples), compare);
    for (size_t i = 0; i < count; i++) {
        result.mean_bytes += (double)samples[i] / (double)count;
    }
    for (size_t i = 0; i < count; i++) {
        const double away = (double)samples[i] - result.mean_bytes;
        squares += away * away / (double)count;
        cubes += away * away * away / (double)count;
    }
    result.deviation_bytes = sqrt(squares);
    if (result.deviation_bytes > 0) {
        result.skewness = cubes / (squares * result.deviation_bytes);
    }
    result.least_bytes = samples[0];
    result.most_bytes = samples[count - 1];
    result.median_bytes = distribution_quantile(samples, count, 0.5);
    result.p95_bytes = distribution_quantile(samples, count, 0.95);
    return result;
}

double distribution_sum_p95(const struct distribution *distribution, uint64_t workers)
{
    const double n = (double)workers;
    const double mean = n * distribution->mean_bytes;
    const double most = n * (double)distribution->most_bytes;
    const double spread = z95 * sqrt(n) + distribution->skewness * (z95 * z95 - 1) / 6;
    double sum = mean + distribution->deviation_bytes * spread;

    if (workers == 0) {
        return 0;
    }
    sum = sum < mean ? mean : sum;
    return sum < most ? sum : most;
}
