/* check.h - is a run possible at all? Pure. */
#ifndef STRATA_TRIAL_CHECK_H
#define STRATA_TRIAL_CHECK_H

#include <stdbool.h>
#include <stddef.h>

#include "trial/load.h"
#include "trial/machine.h"

enum { CHECK_MAX_REASONS = 8, CHECK_REASON_BYTES = 200 };

/* What is known of a run beside its result. */
struct check_input {
    const struct load_result *load;
    struct machine_counters machine;
    unsigned workers;
    unsigned connections;
    bool blocking;            /* a worker serves one request at a time */
    double service_seconds;   /* least time that a request holds a worker; 0: unknown */
    double wanted_rate;       /* open loop; 0: closed */
    unsigned workers_lost;    /* pids of the pool that ended during the run */
    uint64_t recycled_after;  /* requests until FPM ends a worker itself; 0: never */
    const char *service_lost; /* role of a service that ended, or NULL */
};

struct check_reasons {
    char text[CHECK_MAX_REASONS][CHECK_REASON_BYTES];
    size_t count;
};

/* Why the run does not count; none: it does. */
void check_run(const struct check_input *input, struct check_reasons *reasons);

/* Little's law: the most that workers can serve. 0: no bound is known. */
double check_rate_bound(const struct check_input *input);

#endif
