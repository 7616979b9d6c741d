/* bench_options.h - the options of `strata bench` as numbers. */
#ifndef STRATA_CMD_BENCH_OPTIONS_H
#define STRATA_CMD_BENCH_OPTIONS_H

#include "cmd/options.h"
#include "trial/trial.h"

enum { BENCH_PATH_BYTES = 4096 };

/* What a bench was asked for. */
struct bench_request {
    struct result_setup setup;
    struct trial_options trial; /* points into setup and the paths */
    char recipes[BENCH_PATH_BYTES];
    char libexec[BENCH_PATH_BYTES];
    bool models;
    bool list;
};

/* 0, or EXIT_USAGE or EXIT_PARTIAL after a message. */
int bench_options_take(const struct options *options, struct bench_request *request);

#endif
