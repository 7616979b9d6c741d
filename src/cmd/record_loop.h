/* record_loop.h - the clock of `strata record`: tick, wait, until it is time or a signal. */
#ifndef STRATA_CMD_RECORD_LOOP_H
#define STRATA_CMD_RECORD_LOOP_H

#include "base/error.h"
#include "cmd/record_progress.h"
#include "cmd/record_session.h"

struct record_outcome {
    uint64_t cpu_us;     /* what the whole loop took of processors */
    uint64_t elapsed_ms; /* by CLOCK_BOOTTIME */
    bool storing;        /* the last tick could be stored */
};

/*
 * Records until session->for_ms is over, SIGINT, SIGTERM or SIGHUP arrives, or every
 * target was a pid that has ended. progress has begun, and is kept up to date and ended.
 * A tick that cannot be stored is told once and recording goes on. 0, or -ENOMEM and the
 * like with error set.
 */
int record_loop(struct record_session *session, struct record_progress *progress,
    struct record_outcome *outcome, struct error *error);

#endif
