/* trial.h - one server, started, warmed, loaded, measured, and ended whatever happens. */
#ifndef STRATA_TRIAL_TRIAL_H
#define STRATA_TRIAL_TRIAL_H

#include "base/error.h"
#include "base/region.h"
#include "facts/root.h"
#include "facts_types/facts.h"
#include "trial/recipe.h"
#include "trial/result.h"

/* One kind of request that all recipes serve. */
struct trial_work {
    const char *name; /* the last word of the URL's path */
    struct load_expected expected;
    double service_seconds; /* least time a blocking worker is held; 0: none */
    bool database;          /* needs the server's database, where the recipe has one */
    const char *summary;
};
extern const struct trial_work trial_works[]; /* ends with name NULL */
const struct trial_work *trial_work_find(const char *name);

struct trial_options {
    const struct result_setup *setup;
    const struct trial_work *work;
    unsigned warm_seconds;         /* at most */
    const char *url;               /* instead of the recipe's; NULL: the recipe's */
    const char *attach;            /* a running pool to measure; nothing is started */
    struct load_expected expected; /* of url and attach */
    const char *libexec;           /* folder with models/model-server */
    const char *recipes;           /* folder with the recipes, for the database's */
    const char *wrk;
    const char *ab;
    bool progress; /* say on standard error what happens */
};

/* Facts from several moments of the last run; the caller releases them when taken. */
struct trial_look {
    bool taken;
    struct facts facts;          /* of the moment with the largest request heap */
    uint64_t peak_real_bytes;    /* of it; 0 without one */
    struct memory_series series; /* ended by the caller */
    size_t load_first;           /* samples of the first run begin here */
    size_t load_last;
};

/*
 * Runs recipe and fills row and look. 0, also when runs do not count or the server could
 * not be started (row says so); -EINTR when a signal asked to stop; -errno with error set when
 * nothing sensible can be said. Everything that was started has ended on return, and its folder
 * is gone.
 */
int trial_run(const struct trial_options *options, struct facts_root *root,
    struct recipe *recipe, struct result_row *row, struct trial_look *look,
    struct error *error);

#endif
