/* result.h - what a bench found: runs, rows, medians. */
#ifndef STRATA_TRIAL_RESULT_H
#define STRATA_TRIAL_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "trial/check.h"
#include "trial/load.h"
#include "trial/memory.h"

enum {
    RESULT_MAX_RUNS = 32,
    RESULT_MAX_ROWS = 16,
    RESULT_NAME_BYTES = 64,
    RESULT_TEXT_BYTES = 1100, /* more than an error has */
    RESULT_PLOT_POINTS = 240,
};

/* How it was measured; the same for all rows. */
struct result_setup {
    unsigned workers;
    unsigned connections;
    unsigned seconds;
    unsigned runs;
    unsigned quiet_seconds;
    double rate; /* open loop; 0: closed */
    const char *work;
    const char *url;      /* that was given, and work is not asked for; NULL: none */
    const char *attached; /* a pool that ran already, with workers of its own; or NULL */
    enum load_tool tool;
    bool keep_alive;
    uint64_t memory_limit_bytes; /* of the box; 0: none */
    unsigned processors;
    double price_memory; /* of a GiB and month; 0: not given */
    double price_processor;
    const char *currency;
};

struct result_run {
    struct load_result load;
    struct memory_summary memory;
    struct check_reasons reasons; /* none: the run counts */
    double processors;            /* that the pool used, on average */
    double probe_share;           /* of the run's time that looking at memory took */
};

/* A point of the plot: seconds since the start, unique or pss in bytes. */
struct result_point {
    double at_s;
    uint64_t rss_sum;
    uint64_t pss;
};

/* What a plan needs of a row, from a look in the middle of the load. Samples are owned. */
struct result_plan {
    bool known;
    char server[RESULT_NAME_BYTES]; /* as in `strata plan --server` */
    uint64_t *private_bytes;        /* of one worker at one moment */
    size_t private_count;
    double concurrency;
    uint64_t master_bytes; /* processes beside the workers, private */
    uint64_t shared_once_bytes;
    uint64_t fixed_kernel_bytes;
    uint64_t kernel_bytes; /* of one worker, as the next two */
    uint64_t base_bytes;
    uint64_t shared_bytes;
    uint64_t retained_bytes;
    bool heap_known;
    uint64_t peak_real_bytes;
    uint64_t peak_used_bytes;
    uint64_t half_chunks;
    uint64_t memory_limit_bytes; /* 0: none */
    uint64_t processors; /* of the machine of the bench; 0: a result that does not say */
    bool growth_known;
    uint64_t growth_bytes_per_request;
};

struct result_row {
    char recipe[RESULT_NAME_BYTES];
    char title[RESULT_TEXT_BYTES];
    bool model;
    bool blocking;
    bool front;   /* a proxy stands before the pool and is measured beside it */
    bool started; /* else why says what is missing */
    bool whole;   /* all runs were made */
    char why[RESULT_TEXT_BYTES];            /* not started, or not whole: the reason */
    uint64_t workers;                       /* seen */
    struct fact cold[MEMORY_FIGURE_COUNT];  /* started, before the first request */
    struct fact idle[MEMORY_FIGURE_COUNT];  /* warm, without load */
    struct fact quiet[MEMORY_FIGURE_COUNT]; /* after the last run and a rest */
    struct fact trim_gain; /* of quiet: what trim and gc_mem_caches would give back */
    unsigned warm_seconds;
    uint64_t warm_requests;
    bool warm; /* memory stood still before the first run */
    struct result_run runs[RESULT_MAX_RUNS];
    size_t run_count;
    bool box_known;
    uint64_t box_hits;
    uint64_t box_kills;
    uint64_t box_peak_bytes;
    struct result_point points[RESULT_PLOT_POINTS];
    size_t point_count;
    struct result_plan plan;
};

struct result {
    struct result_setup setup;
    struct result_row rows[RESULT_MAX_ROWS];
    size_t row_count;
};

/* Medians over the runs that count, and how far they lie apart. */
struct result_medians {
    size_t counted; /* runs */
    double rate;
    double rate_least;
    double rate_most;
    double p50_us;
    double p99_us;
    double processors;
    struct fact mean[MEMORY_FIGURE_COUNT];
    struct fact peak[MEMORY_FIGURE_COUNT];
};

struct result_medians result_medians_of(const struct result_row *row);

/* The figure that a row is judged by: unique frames, else pss, else the sum of RSS. */
enum memory_figure result_best_figure(const struct fact figures[MEMORY_FIGURE_COUNT]);

/* A month's price of memory and processors, 0 when no price was given. */
double result_cost(
    const struct result_setup *setup, const struct result_medians *medians);

/* Requests a second for each GiB; 0 when bytes are not known. */
double result_per_gib(double rate, const struct fact *bytes);

#endif
