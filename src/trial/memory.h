/* memory.h - the memory of a pool over time, from the tool's own facts. */
#ifndef STRATA_TRIAL_MEMORY_H
#define STRATA_TRIAL_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "facts/root.h"
#include "facts_types/fact.h"

enum memory_figure {
    MEMORY_RSS_SUM,   /* as ps adds up */
    MEMORY_PSS,       /* shared pages divided by their users */
    MEMORY_UNIQUE,    /* frames, each once */
    MEMORY_EXCLUSIVE, /* of these, mapped by nobody else */
    MEMORY_CGROUP,    /* charged to the pool's own cgroup */
    MEMORY_FRONT_PSS, /* of the proxy in front, when there is one */
    MEMORY_FIGURE_COUNT
};
extern const char *const memory_figure_names[MEMORY_FIGURE_COUNT]; /* "rss_sum", ... */

enum {
    MEMORY_MAX_SAMPLES = 4096,
    MEMORY_MAX_WORKERS = 1024,
    MEMORY_MAX_PRIVATE = 1 << 16,
};

struct memory_sample {
    double at_s; /* since the series began */
    struct fact figures[MEMORY_FIGURE_COUNT];
    uint64_t workers;
    uint64_t private_sum;  /* of the workers */
    uint64_t processor_us; /* of all processes of the pool, user and system, so far */
    uint64_t cost_us;      /* what looking took */
};

/* Mean over time and largest of each figure between two moments. */
struct memory_summary {
    struct fact mean[MEMORY_FIGURE_COUNT];
    struct fact peak[MEMORY_FIGURE_COUNT];
};

/* What is measured: names as target_find() understands them. */
struct memory_target {
    const char *pool;
    const char *front; /* NULL: none */
    bool own_cgroup;   /* the pool's cgroup bills it alone */
};

struct memory_series {
    struct facts_root *root;
    struct memory_target target;
    int64_t begin_ns;
    struct memory_sample *samples;
    size_t count;
    uint64_t *private_bytes; /* of each worker at each sample under load */
    size_t private_count;
    int32_t workers[MEMORY_MAX_WORKERS]; /* pids at the last sample, ascending */
    size_t worker_count;
};

/* 0 or -ENOMEM. The root and the names are borrowed. */
int memory_begin(struct memory_series *series, struct facts_root *root,
    const struct memory_target *target);
void memory_end(struct memory_series *series);

/*
 * Takes one sample. frames: also count frames, which costs more. loaded: keep the private
 * memory of each worker. 0; -ESRCH when the pool is gone; -errno.
 */
int memory_sample_take(
    struct memory_series *series, bool frames, bool loaded, struct error *error);

/* Over the samples first..last (inclusive). A figure that no sample has is absent. */
struct memory_summary memory_summarise(
    const struct memory_series *series, size_t first, size_t last);

/* 95th percentile of the pool's private sum over its mean, samples first to last; 0: none. */
double memory_concurrency(const struct memory_series *series, size_t first, size_t last);

#endif
