/* growth.h - does an amount grow without end, or did it only warm up? */
#ifndef STRATA_MODEL_GROWTH_H
#define STRATA_MODEL_GROWTH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"

/* x: seconds since the process started, or requests it served, never negative; y: bytes. */
struct growth_point {
    double x;
    double y;
};

/* Spans of x that tell a leak from a start: of time, and of requests. */
enum { GROWTH_LEAST_SECONDS = 600, GROWTH_LEAST_REQUESTS = 1000 };

enum growth_verdict {
    GROWTH_UNCLEAR, /* too few points, or neither straight nor slowing down */
    GROWTH_SHORT,   /* it grows, and was seen for too short to tell whether it goes on */
    GROWTH_STEADY,  /* no growth worth a word */
    GROWTH_PLATEAU, /* it grew and has stopped: warmed up */
    GROWTH_SLOWING, /* it grows ever slower, as with the logarithm of x */
    GROWTH_LEAK,    /* it grows as fast in the second half as in the first */
    GROWTH_SHRINKING, /* it is smaller at the end */
    GROWTH_VERDICT_COUNT,
};

/* "unclear", "short", "steady", "plateau", "slowing", "leak", "shrinking" */
extern const char *const growth_verdict_names[GROWTH_VERDICT_COUNT];

struct growth {
    enum growth_verdict verdict;
    size_t points;      /* that were given */
    double span;        /* of x */
    double first_bytes; /* median of the first tenth */
    double last_bytes;  /* of the last tenth */
    double slope;       /* Theil-Sen over the second half, bytes for each unit of x */
    double early_slope; /* over the first half */
    double confidence;  /* Mann-Kendall's z of the second half: above 2.58 is 99 % */
};

/*
 * Judges points, which are sorted by x. The slope is the median of the slopes between all
 * pairs (Theil 1950, Sen 1968), which a third of outliers does not move; that it rises at
 * all is told by the rank test of Mann and Kendall over at most 60 medians. Growth that
 * is straight in x goes on; growth that is straight in log x, as of caches and pools that
 * fill, slows down: which of both fits better (by the median distance of the points) decides
 * when it has not stopped. Below least_span of x nothing is said of growth, since every
 * program warms up. Pure; scratch is used. 0 or -ENOMEM.
 */
int growth_judge(const struct growth_point *points, size_t count, double least_span,
    struct region *scratch, struct growth *growth);

#endif
