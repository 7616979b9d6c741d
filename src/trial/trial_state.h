/* trial_state.h - one trial while it runs, shared by the parts of trial.c. */
#ifndef STRATA_TRIAL_TRIAL_STATE_H
#define STRATA_TRIAL_TRIAL_STATE_H

#include "trial/box.h"
#include "trial/service.h"
#include "trial/trial.h"

enum { TRIAL_NAME_BYTES = 64, TRIAL_VALUES = 10 };

struct trial {
    const struct trial_options *options;
    const struct recipe *recipe;
    struct result_row *row;
    struct trial_look *look;
    struct facts_root *root;
    struct error *error;
    struct region region;
    char folder[128];
    int folder_claim; /* below 0: none */
    char log[192];
    char port[16];
    char port2[16];
    char workers[16];
    char database[TRIAL_NAME_BYTES];
    struct recipe_value values[TRIAL_VALUES];
    size_t value_count;
    struct box box;
    struct service services[RECIPE_MAX_ITEMS + 1];
    size_t service_count;
    char pool[TRIAL_NAME_BYTES];
    char front[TRIAL_NAME_BYTES];
    const char *url;
    struct load_expected expected;
    uint64_t requests;    /* served under load, for growth by request */
    double private_first; /* mean of the pool's private sum in the first run */
    double private_last;
};

/* One line of progress, when that is wanted. */
void trial_say(const struct trial *trial, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* What is measured. */
const char *trial_target(const struct trial *trial);

#endif
