/* test_distribution.c - moments by hand, and sums beside the exact binomial. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "plan/distribution.h"

static void moments_by_hand(void **state)
{
    uint64_t samples[] = {9, 1, 5, 5};
    const struct distribution d = distribution_of(samples, 4);

    (void)state;
    assert_int_equal(d.least_bytes, 1);
    assert_int_equal(d.median_bytes, 5);
    assert_int_equal(d.p95_bytes, 9);
    assert_int_equal(d.most_bytes, 9);
    assert_true(fabs(d.mean_bytes - 5.0) < 1e-9);
    assert_true(fabs(d.deviation_bytes - sqrt(8.0)) < 1e-9);
    assert_true(fabs(d.skewness) < 1e-9);
}

static void nothing_is_all_zero(void **state)
{
    (void)state;
    const struct distribution d = distribution_of(NULL, 0);
    assert_int_equal(d.most_bytes, 0);
    assert_int_equal(distribution_quantile(NULL, 0, 0.5), 0);
    assert_true(distribution_sum_p95(&d, 10) == 0);
}

static void quantiles_are_nearest_ranks(void **state)
{
    uint64_t samples[100];

    (void)state;
    for (uint64_t i = 0; i < 100; i++) {
        samples[i] = i + 1;
    }
    assert_int_equal(distribution_quantile(samples, 100, 0.95), 95);
    assert_int_equal(distribution_quantile(samples, 100, 1.0), 100);
    assert_int_equal(distribution_quantile(samples, 100, 0.0), 1);
    assert_int_equal(distribution_quantile(samples, 100, 0.001), 1);
}

static void equal_workers_sum_exactly(void **state)
{
    uint64_t samples[] = {7, 7, 7};
    const struct distribution d = distribution_of(samples, 3);

    (void)state;
    for (uint64_t n = 1; n < 1000; n++) {
        assert_true(fabs(distribution_sum_p95(&d, n) - 7.0 * (double)n) < 1e-6);
    }
}

/* How many of n workers are heavy at the 95th percentile, exactly. */
static uint64_t binomial_p95(uint64_t n, double p)
{
    double term = pow(1 - p, (double)n);
    double sum = term;
    uint64_t k = 0;

    while (sum < 0.95 && k < n) {
        term *= (double)(n - k) / (double)(k + 1) * p / (1 - p);
        k++;
        sum += term;
    }
    return k;
}

/* One heavy sample in 100 and one in 10, 20 times as large: within one heavy worker. */
static void a_long_tail_is_near_the_binomial(void **state)
{
    static const size_t heavy[] = {1, 5, 10, 30};
    uint64_t samples[100];

    (void)state;
    for (size_t i = 0; i < 4; i++) {
        for (size_t j = 0; j < 100; j++) {
            samples[j] = j < heavy[i] ? 20 : 1;
        }
        const struct distribution d = distribution_of(samples, 100);
        for (uint64_t n = 1; n <= 500; n += n < 20 ? 1 : 17) {
            const double exact =
                (double)n + 19.0 * (double)binomial_p95(n, (double)heavy[i] / 100);
            assert_true(fabs(distribution_sum_p95(&d, n) - exact) <= 19.0 * 1.25);
        }
    }
}

/* 1 heavy of 20 in 99 light of 1: m 1.19, s 19 sqrt(0.0099), g 0.98 / sqrt(0.0099). */
static void the_third_term_by_hand(void **state)
{
    uint64_t samples[100];

    (void)state;
    for (size_t i = 0; i < 100; i++) {
        samples[i] = i == 0 ? 20 : 1;
    }
    const struct distribution d = distribution_of(samples, 100);
    assert_true(fabs(d.skewness - 9.8494) < 0.001);
    /* 119 + 1.89048 x (1.644854 x 10 + 9.8494 x 0.284257) */
    assert_true(fabs(distribution_sum_p95(&d, 100) - 155.388) < 0.01);
}

static void the_sum_grows_with_workers(void **state)
{
    uint64_t samples[] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 400};
    uint64_t left[] = {400, 400, 400, 400, 400, 400, 400, 400, 400, 1};
    const struct distribution d = distribution_of(samples, 10);
    const struct distribution e = distribution_of(left, 10);

    (void)state;
    for (uint64_t n = 1; n < 2000; n++) {
        assert_true(distribution_sum_p95(&d, n) >= distribution_sum_p95(&d, n - 1));
        assert_true(distribution_sum_p95(&e, n) >= distribution_sum_p95(&e, n - 1));
        assert_true(distribution_sum_p95(&d, n) <= 400.0 * (double)n);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(moments_by_hand),
        cmocka_unit_test(nothing_is_all_zero),
        cmocka_unit_test(quantiles_are_nearest_ranks),
        cmocka_unit_test(equal_workers_sum_exactly),
        cmocka_unit_test(a_long_tail_is_near_the_binomial),
        cmocka_unit_test(the_third_term_by_hand),
        cmocka_unit_test(the_sum_grows_with_workers),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
