/*
 * trial.h - one run of the server under the load, in one way, and what was measured.
 */
#ifndef STRATA_LABS_MYSQL_CHURN_TRIAL_H
#define STRATA_LABS_MYSQL_CHURN_TRIAL_H

#include <stdbool.h>
#include <stdint.h>

#include "look.h"
#include "server.h"
#include "views.h"

/* The ways of the experiment, in the order of its table. */
enum way {
    WAY_BEFORE,
    WAY_THRESHOLD,
    WAY_CAP,
    WAY_CACHE,
    WAY_BOTH,
    WAY_JEMALLOC,
    WAY_TCMALLOC,
    WAY_MIMALLOC,
    WAY_STRATA,
    WAYS
};

struct trial {
    bool measured;       /* else: why */
    const char *missing; /* what to install */
    int64_t idle;        /* resident after the start and one pass over the data */
    int64_t peak;        /* VmHWM after the load */
    int64_t last;        /* VmRSS after the last burst, all clients gone */
    int64_t after;       /* what stands for it in comparisons, see trial_run() */
    int64_t server_says; /* sys.memory_global_total of the server, after the load */
    int64_t threads_created;
    int64_t connections;
    int64_t cpu_us_per_view; /* processor time of the server */
    struct look look;        /* after the load; owned when measured */
};

/* How a way is called in tables. */
const char *way_name(enum way way);

/*
 * The load comes in bursts, with all clients gone in between. The first ones fill what there is
 * to fill and do not count.
 */
enum { TRIAL_BURSTS = 8, TRIAL_FILLING_BURSTS = 4 };

/*
 * Starts the server in this way, warms it up, drives the views (so many in all bursts
 * together), waits until it is idle, looks, and stops it. capture: a file for the facts, or
 * NULL.
 *
 * Without a change of malloc's the resident set still grows a little with each burst, so equal
 * moments must be compared: after is last. With a cap or a threshold it goes up and down, as arenas
 * fill and are trimmed: after is the mean over the bursts that count.
 */
void trial_run(struct trial *trial, struct server *server, enum way way,
    const struct views *views, const char *capture);

/* The predicted saving of a way from the look at the way before. */
struct look_range trial_predicted(const struct trial *before, enum way way);

void trial_release(struct trial *trial);

#endif
