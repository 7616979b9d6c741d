/* record_target.h - one tick of one target of a recording. */
#ifndef STRATA_CMD_RECORD_TARGET_H
#define STRATA_CMD_RECORD_TARGET_H

#include "base/error.h"
#include "cmd/record_session.h"

/*
 * Finds the members when that is due, reads their totals and puts them into the recorder, with
 * the host's when with_host. A target that is gone is no failure. 0 or -ENOMEM and the
 * like, with error set.
 */
int record_target_tick(struct record_session *session, struct record_target *target,
    bool with_host, struct error *error);

/* True when a full capture of it is due now: record/capture_clock.h. */
bool record_target_wants_capture(
    const struct record_session *session, const struct record_target *target);

#endif
