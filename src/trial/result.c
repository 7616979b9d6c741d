/*
 * result.c - medians of valid runs only.
 *
 * Cost: the peak must be paid for all month, the processors by what the load used. GiB
 * everywhere; "GB" of a price list is taken as one, which is what clouds charge for.
 */
#include "trial/result.h"

#include <stdlib.h>

#include "model/known.h"

static const double gib = 1024.0 * 1024 * 1024;

static int compare(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

/* The middle one; of an even number the mean of both. Sorts. */
static double median_of(double *values, size_t count)
{
    if (count == 0) {
        return 0;
    }
    qsort(values, count, sizeof(double), compare);
    return count % 2 == 1 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}

static bool counts(const struct result_run *run)
{
    return run->reasons.count == 0;
}

enum which { WHICH_MEAN, WHICH_PEAK };

static struct fact median_figure(
    const struct result_row *row, enum which which, int figure)
{
    double values[RESULT_MAX_RUNS];
    size_t count = 0;

    for (size_t i = 0; i < row->run_count; i++) {
        const struct memory_summary *memory = &row->runs[i].memory;
        const struct fact *fact =
            which == WHICH_MEAN ? &memory->mean[figure] : &memory->peak[figure];
        if (counts(&row->runs[i]) && fact_is_known(fact)) {
            values[count++] = (double)fact->value;
        }
    }
    if (count == 0) {
        return (struct fact){.state = FACT_ABSENT};
    }
    return (struct fact){.value = (uint64_t)median_of(values, count), .state = FACT_OK};
}

struct result_medians result_medians_of(const struct result_row *row)
{
    struct result_medians medians = {0};
    double rates[RESULT_MAX_RUNS];
    double p50[RESULT_MAX_RUNS];
    double p99[RESULT_MAX_RUNS];
    double processors[RESULT_MAX_RUNS];

    for (size_t i = 0; i < row->run_count; i++) {
        const struct result_run *run = &row->runs[i];
        if (counts(run)) {
            rates[medians.counted] = run->load.rate;
            p50[medians.counted] = run->load.p50_us;
            p99[medians.counted] = run->load.p99_us;
            processors[medians.counted++] = run->processors;
        }
    }
    if (medians.counted == 0) {
        return medians;
    }
    medians.rate = median_of(rates, medians.counted);
    medians.rate_least = rates[0];
    medians.rate_most = rates[medians.counted - 1];
    medians.p50_us = median_of(p50, medians.counted);
    medians.p99_us = median_of(p99, medians.counted);
    medians.processors = median_of(processors, medians.counted);
    for (int figure = 0; figure < MEMORY_FIGURE_COUNT; figure++) {
        medians.mean[figure] = median_figure(row, WHICH_MEAN, figure);
        medians.peak[figure] = median_figure(row, WHICH_PEAK, figure);
    }
    return medians;
}

enum memory_figure result_best_figure(const struct fact figures[MEMORY_FIGURE_COUNT])
{
    if (fact_is_known(&figures[MEMORY_UNIQUE])) {
        return MEMORY_UNIQUE;
    }
    return fact_is_known(&figures[MEMORY_PSS]) ? MEMORY_PSS : MEMORY_RSS_SUM;
}

double result_cost(const struct result_setup *setup, const struct result_medians *medians)
{
    const struct fact *peak = &medians->peak[result_best_figure(medians->peak)];

    if (medians->counted == 0 || !fact_is_known(peak)) {
        return 0;
    }
    return (double)peak->value / gib * setup->price_memory +
           medians->processors * setup->price_processor;
}

double result_per_gib(double rate, const struct fact *bytes)
{
    return fact_is_known(bytes) && bytes->value > 0 ? rate / ((double)bytes->value / gib)
                                                    : 0;
}
