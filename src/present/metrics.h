/* metrics.h - what `strata export` shows at one moment: the input of the metrics page. */
#ifndef STRATA_PRESENT_METRICS_H
#define STRATA_PRESENT_METRICS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "findings/finding.h"
#include "model/glibc_total.h"
#include "model/snapshot.h"

/* What tells the series of one target from those of others. Never NULL; "" is no label. */
struct metrics_labels {
    const char *name; /* of the program */
    const char *pool; /* of PHP-FPM */
    const char *unit; /* the systemd service, or the beginning of the container's id */
    int32_t pid;      /* 0: no label */
};

/* One target. What it was looked at for last is in figures; NULL: not yet, or never. */
/* What plans are made from, over the members of a target. */
struct metrics_sizing {
    struct fact private_bytes;   /* sum of the members' private pages */
    struct fact php_real_bytes;  /* largest real of PHP's request heaps */
    struct fact php_limit_bytes; /* largest memory_limit */
};

struct metrics_target {
    struct metrics_labels labels;
    const struct facts *members; /* as the look at the host saw them */
    const struct layer *layers;  /* LAYER_COUNT of them */
    const struct finding_list *findings;
    bool looked; /* the following is known */
    bool denied;
    bool complete;
    double age_seconds; /* of layers, glibc and findings */
    const struct glibc_total *glibc;
    struct metrics_sizing sizing;
};

struct metrics_count {
    const char *reason;
    uint64_t value;
};

/* What the exporter says of itself. */
struct metrics_self {
    const char *version;
    double host_age_seconds;
    double host_duration_seconds; /* of the last look at the host */
    double look_duration_seconds; /* of the last look inside of a target */
    double cpu_seconds;           /* processor time of all looks */
    uint64_t host_looks;
    uint64_t looks;
    uint64_t targets_seen;              /* rows of the host, exported or not */
    const struct metrics_count *errors; /* looks that failed, by reason */
    size_t error_count;
    const struct metrics_count *requests; /* of HTTP, by status code; may be none */
    size_t request_count;
};

/* Targets with equal labels may not stand side by side: their series would collide. */
struct metrics_page {
    const struct facts *host; /* NULL: not read yet */
    const struct metrics_target *targets;
    size_t target_count;
    struct metrics_self self;
};

/* OpenMetrics 1.0.0, or the older text format 0.0.4 of Prometheus, which textfile readers take. */
enum metrics_format { METRICS_OPENMETRICS, METRICS_CLASSIC };

/* Value of the header Content-Type. */
const char *metrics_content_type(enum metrics_format format);

/*
 * Appends the page. Pure. A number that is not known has no sample: it is never 0 instead.
 * Names of metrics come from facts.def and layer_names.
 */
void present_metrics(
    const struct metrics_page *page, enum metrics_format format, struct buffer *buffer);

#endif
