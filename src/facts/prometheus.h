/* prometheus.h - series out of the HTTP API of Prometheus. */
#ifndef STRATA_FACTS_PROMETHEUS_H
#define STRATA_FACTS_PROMETHEUS_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/region.h"

enum { PROMETHEUS_MAX_SERIES = 10000, PROMETHEUS_MAX_POINTS = 1 << 20 };

struct prometheus_point {
    double at_s; /* Unix time */
    double value;
};

/* One series: the labels that tell hosts and pools apart ("" when it has none), its points. */
struct prometheus_series {
    char *instance;
    char *name;
    char *pool;
    char *unit;
    struct prometheus_point *points; /* in the order of time */
    size_t point_count;
};

struct prometheus_answer {
    struct prometheus_series *series;
    size_t count;
    size_t points; /* of all series */
};

/* A span of time to ask about. */
struct prometheus_span {
    int64_t from_s;
    int64_t to_s;
    int64_t step_s;
};

/*
 * Asks the server at base ("http://127.0.0.1:9090") for expression over span. Memory comes from
 * region. 0; as web_get(); -EBADMSG with error set when the answer is not what the API gives;
 * -EFBIG for more series or points than the bounds.
 */
int prometheus_query(struct region *region, const char *base, const char *expression,
    const struct prometheus_span *span, struct prometheus_answer *answer,
    struct error *error);

/* The text of an answer apart from any server. Values that are no numbers are left out. */
int prometheus_parse(struct region *region, const char *text, size_t bytes,
    struct prometheus_answer *answer, struct error *error);

#endif
