/*
 * growth.c - a robust slope, and whether it lasts.
 *
 * "It is larger than at its start" is no leak: every program warms up. What tells them apart
 * is whether the second half of the time (or of the requests) grows like the first. Points are
 * first put into medians of equal numbers, so that a day costs what an hour does and a peak
 * of seconds does not count.
 */
#include "model/growth.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum {
    MEDIANS = 60,      /* points after reduction: 1,770 pairs */
    POINTS_LEAST = 12, /* fewer say nothing */
    THIRDS = 3,
};

/* Growth below both is not worth a word: noise of allocators and page counts. */
static const double least_bytes = 4 * 1024 * 1024;
static const double least_share = 0.05;
static const double sure = 2.58; /* 99 %, two-sided */
/* Slope of the second half over that of all: 1 is straight, log x has 0.2 and less. */
static const double straight_share = 0.5;
static const double stopped_share = 0.25;
/* The logarithm fits better when points are so much closer to it. */
static const double closer = 0.8;

const char *const growth_verdict_names[GROWTH_VERDICT_COUNT] = {
    [GROWTH_UNCLEAR] = "unclear",
    [GROWTH_SHORT] = "short",
    [GROWTH_STEADY] = "steady",
    [GROWTH_PLATEAU] = "plateau",
    [GROWTH_SLOWING] = "slowing",
    [GROWTH_LEAK] = "leak",
    [GROWTH_SHRINKING] = "shrinking",
};

static int compare_doubles(const void *left, const void *right)
{
    const double a = *(const double *)left;
    const double b = *(const double *)right;

    return (a > b) - (a < b);
}

/* Sorts values. */
static double median(double *values, size_t count)
{
    qsort(values, count, sizeof(*values), compare_doubles);
    return count % 2 == 1 ? values[count / 2]
                          : (values[count / 2 - 1] + values[count / 2]) / 2;
}

/* The median of y over points [first, first + count). */
static double level(
    const struct growth_point *points, size_t first, size_t count, double *scratch)
{
    for (size_t i = 0; i < count; i++) {
        scratch[i] = points[first + i].y;
    }
    return median(scratch, count);
}

static size_t reduce(const struct growth_point *points, size_t count, double *scratch,
    struct growth_point *reduced)
{
    const size_t groups = count < MEDIANS ? count : MEDIANS;

    for (size_t i = 0; i < groups; i++) {
        const size_t first = i * count / groups;
        const size_t after = (i + 1) * count / groups;
        reduced[i] = (struct growth_point){(points[first].x + points[after - 1].x) / 2.0,
            level(points, first, after - first, scratch)};
    }
    return groups;
}

static double theil_sen(const struct growth_point *points, size_t count, double *scratch)
{
    size_t slopes = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            const double distance = points[k].x - points[i].x;
            if (distance > 0) {
                scratch[slopes++] = (points[k].y - points[i].y) / distance;
            }
        }
    }
    return slopes == 0 ? 0.0 : median(scratch, slopes);
}

/* z of the sum of signs over all pairs, without a correction for ties: on the safe side. */
static double mann_kendall(const struct growth_point *points, size_t count)
{
    const double n = (double)count;
    const double variance = n * (n - 1) * (2 * n + 5) / 18;
    double sum = 0;

    for (size_t i = 0; i < count; i++) {
        for (size_t k = i + 1; k < count; k++) {
            sum += (points[k].y > points[i].y) - (points[k].y < points[i].y);
        }
    }
    if (sum == 0 || variance <= 0) {
        return 0;
    }
    return (sum > 0 ? sum - 1 : sum + 1) / sqrt(variance);
}

/* Each third of the points stands higher than the one before: no single step. */
static bool keeps_rising(const struct growth_point *points, size_t count, double *scratch)
{
    double before = 0;

    for (size_t i = 0; i < THIRDS; i++) {
        const size_t first = i * count / THIRDS;
        const size_t after = (i + 1) * count / THIRDS;
        const double now = level(points, first, after - first, scratch);
        if (i > 0 && now <= before) {
            return false;
        }
        before = now;
    }
    return true;
}

/* Median distance of the points from the robust line through them. */
static double misfit(const struct growth_point *points, size_t count, double *scratch)
{
    const double slope = theil_sen(points, count, scratch);

    for (size_t i = 0; i < count; i++) {
        scratch[i] = points[i].y - slope * points[i].x;
    }
    const double base = median(scratch, count);
    for (size_t i = 0; i < count; i++) {
        scratch[i] = fabs(points[i].y - slope * points[i].x - base);
    }
    return median(scratch, count);
}

static bool is_logarithmic(
    const struct growth_point *points, size_t count, double *scratch)
{
    struct growth_point bent[MEDIANS];

    for (size_t i = 0; i < count; i++) {
        bent[i] = (struct growth_point){log1p(fmax(points[i].x, 0)), points[i].y};
    }
    const double straight = misfit(points, count, scratch);
    return misfit(bent, count, scratch) < closer * straight;
}

static size_t half_of(const struct growth_point *points, size_t count)
{
    const double middle = (points[0].x + points[count - 1].x) / 2;
    size_t half = 0;

    while (half < count && points[half].x < middle) {
        half++;
    }
    return half;
}

/* What the shape of the points says, where more than one number counts. */
struct shape {
    double late_span;
    bool seen_long_enough;
    bool rising;
    bool logarithmic;
};

static enum growth_verdict verdict_of(
    const struct growth *growth, const struct shape *shape)
{
    const double grown = growth->last_bytes - growth->first_bytes;
    const double least = fmax(least_bytes, growth->first_bytes * least_share);
    const double whole = growth->span > 0 ? grown / growth->span : 0;
    const double late = growth->slope * shape->late_span;

    if (grown <= -least) {
        return GROWTH_SHRINKING;
    }
    if (grown < least) {
        return GROWTH_STEADY;
    }
    if (!shape->seen_long_enough) {
        return GROWTH_SHORT;
    }
    if (growth->confidence < sure || growth->slope <= stopped_share * whole) {
        return GROWTH_PLATEAU;
    }
    if (shape->logarithmic) {
        return GROWTH_SLOWING;
    }
    return shape->rising && late >= least / 2 && growth->slope >= straight_share * whole
               ? GROWTH_LEAK
               : GROWTH_UNCLEAR;
}

static void judge(const struct growth_point *points, size_t count, double least_span,
    double *scratch, struct growth *growth)
{
    const size_t half = half_of(points, count);
    const struct growth_point *late = &points[half];
    const size_t late_count = count - half;

    growth->early_slope = theil_sen(points, half, scratch);
    growth->slope = theil_sen(late, late_count, scratch);
    growth->confidence = mann_kendall(late, late_count);
    if (half < POINTS_LEAST / 4 || late_count < POINTS_LEAST / 2) {
        return; /* nearly all in one half: unclear */
    }
    const struct shape shape = {.late_span = points[count - 1].x - late[0].x,
        .seen_long_enough = growth->span >= least_span,
        .rising = keeps_rising(late, late_count, scratch),
        .logarithmic = is_logarithmic(points, count, scratch)};
    growth->verdict = verdict_of(growth, &shape);
}

int growth_judge(const struct growth_point *points, size_t count, double least_span,
    struct region *scratch, struct growth *growth)
{
    struct growth_point reduced[MEDIANS];
    const size_t pairs = MEDIANS * MEDIANS / 2;

    *growth = (struct growth){.verdict = GROWTH_UNCLEAR, .points = count};
    if (count == 0) {
        return 0;
    }
    growth->span = points[count - 1].x - points[0].x;
    double *values =
        region_alloc(scratch, (count > pairs ? count : pairs) * sizeof(*values));
    if (values == NULL) {
        return -ENOMEM;
    }
    const size_t tenth = count < 10 ? 1 : count / 10;
    growth->first_bytes = level(points, 0, tenth, values);
    growth->last_bytes = level(points, count - tenth, tenth, values);
    if (count >= POINTS_LEAST && growth->span > 0) {
        judge(
            reduced, reduce(points, count, values, reduced), least_span, values, growth);
    }
    return 0;
}
