/* plan.h - how many workers fit, which limit follows, what to set: a pure function. */
#ifndef STRATA_PLAN_PLAN_H
#define STRATA_PLAN_PLAN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact.h"
#include "plan/distribution.h"

enum {
    PLAN_MAX_FIXED = 8,
    PLAN_MAX_SAVINGS = 8,
    PLAN_MAX_SAMPLES = 1 << 20,
    PLAN_MAX_WORKERS = 1000000,
    PLAN_ZEND_CHUNK_BYTES = 2 << 20,
};

enum plan_server {
    PLAN_FPM,
    PLAN_SWOOLE,
    PLAN_ROADRUNNER,
    PLAN_GUNICORN,
    PLAN_NGINX,
    PLAN_OTHER,
    PLAN_SERVER_COUNT
};

/* "php-fpm", "swoole", ...: in JSON and for --server. */
extern const char *const plan_server_names[PLAN_SERVER_COUNT];

/* Memory that is there once, however many workers run. */
struct plan_fixed {
    const char *id;    /* "master", "shared", "kernel", "others", "reserve" */
    const char *title; /* for people */
    uint64_t bytes;
};

/* What a change of the allocator takes off one worker; low and high as predicted. */
struct plan_saving {
    const char *id;
    const char *title;
    const char *how;        /* what to set */
    const char *confidence; /* "measured", "rough" */
    uint64_t low_bytes;
    uint64_t high_bytes;
    /* filled by plan_make(): workers of the planned case with the saving */
    uint64_t workers_low;
    uint64_t workers_high;
};

/* Where the request's own memory was seen: PHP's heap, over all workers and moments. */
struct plan_heap {
    bool known;
    uint64_t peak_real_bytes;   /* largest seen: what memory_limit is compared with */
    uint64_t peak_used_bytes;   /* of the same worker */
    uint64_t half_chunks;       /* of it: chunks with one run over half, the 1 MB cliff */
    uint64_t kernel_peak_bytes; /* no request was larger; 0: no more than PHP knows */
    struct fact limit_bytes;    /* memory_limit; absent: -1 or not PHP */
    bool limit_wished;          /* it is what the user wants, not what is set */
    struct fact hard_limit_bytes; /* builds that grant past the limit up to here */
};

/* Everything a plan depends on. Strings and samples are borrowed. */
struct plan_input {
    const char *name;   /* "www" */
    const char *source; /* "20 workers of a live pool, one look" */
    enum plan_server server;
    bool samples_are_peaks; /* each sample is a worker's peak so far, not one moment */

    uint64_t limit_bytes;
    const char *limit_source;
    struct plan_fixed fixed[PLAN_MAX_FIXED];
    size_t fixed_count;

    uint64_t *private_bytes; /* samples of one worker; sorted by plan_make() */
    size_t private_count;
    uint64_t kernel_bytes; /* page tables and stacks of one worker */
    uint64_t base_bytes;   /* private memory of a worker beside its request heap */
    uint64_t shared_bytes; /* of one worker's RSS: pages that others map too */
    double concurrency;    /* measured 95th percentile of the pool's sum over its mean;
                                  0: not measured, then draws count as independent */
    struct plan_heap heap;
    double processors; /* that the workers may use, 1.5 for a quota; 0: not looked at */
    const char *processors_source;
    uint64_t on_demand_seconds; /* idle timeout of pm = ondemand; 0: another mode */
    bool idle; /* hardly any request was served: what workers take is not known yet */
    uint64_t workers_now;     /* 0: unknown */
    uint64_t workers_allowed; /* pm.max_children and the like; 0: unknown */
    uint64_t other_pools_children;
    bool alone; /* the limit is a cgroup's: nobody else needs the memory */
    uint64_t growth_bytes_per_request; /* 0: none seen */
    bool growth_known;
    uint64_t retained_bytes;     /* of one worker, on average: free and resident */
    uint64_t arenas;             /* of the worker with the most */
    uint64_t thread_cache_bytes; /* of one worker: what malloc's thread caches hold */

    struct plan_saving savings[PLAN_MAX_SAVINGS];
    size_t saving_count;
};

enum plan_case_id { PLAN_EXPECTED, PLAN_P95, PLAN_WORST, PLAN_CASE_COUNT };
extern const char
    *const plan_case_names[PLAN_CASE_COUNT]; /* "expected", "p95", "worst" */

struct plan_case {
    uint64_t workers;        /* most that fit */
    uint64_t each_bytes;     /* what one of them takes in this case, on average */
    uint64_t need_bytes;     /* fixed and workers together, with that many */
    uint64_t need_now_bytes; /* with workers_allowed, else workers_now; 0: unknown */
    bool fits_now;
};

/* memory_limit by the peak of real, and what the cliff does to it. */
struct plan_limit {
    bool known;
    uint64_t set_bytes;     /* counted with, and set by the configuration; 0: none */
    uint64_t advised_bytes; /* whole chunks */
    uint64_t cliff_bytes;   /* of the peak, at most: what is free beside large blocks */
    uint64_t without_cliff_bytes; /* advised when the large blocks shrink to 1,044,448 */
    uint64_t worst_workers;       /* worst case with the advised limit */
};

struct plan {
    struct distribution each; /* with the kernel's share */
    uint64_t fixed_bytes;
    uint64_t budget_bytes; /* limit - fixed; 0 when fixed is larger */
    uint64_t worst_each_bytes;
    bool worst_by_limit; /* limit.set_bytes; else by the largest peak seen */
    struct plan_case cases[PLAN_CASE_COUNT];
    struct plan_limit limit;
    uint64_t max_requests; /* 0: no recycling needed */
};

/*
 * Fills plan and the workers of input's savings; planned says which case they and the
 * configuration are for. Pure but for the order of the samples. More limit, less fixed memory
 * or all samples made smaller by one factor never mean fewer workers.
 */
void plan_make(struct plan_input *input, enum plan_case_id planned, struct plan *plan);

/* What workers take in that case without the fixed part. Grows with workers. */
uint64_t plan_need(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id id, uint64_t workers);

/* memory_limit for a largest real of peak_bytes: a quarter more, a chunk at least. */
uint64_t plan_limit_for(uint64_t peak_bytes);

#endif
