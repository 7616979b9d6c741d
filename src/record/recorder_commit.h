/* recorder_commit.h - everything since the last tick, in one transaction. */
#ifndef STRATA_RECORD_RECORDER_COMMIT_H
#define STRATA_RECORD_RECORDER_COMMIT_H

#include "base/error.h"
#include "facts_types/moment.h"
#include "record/recorder.h"

/*
 * Stores the tick in one transaction: all or nothing. When that fails (-ENOSPC, -EIO,
 * -EBUSY, ...) nothing that was stored before is harmed, captures that waited are
 * dropped, and the next tick carries the difference to the last stored one.
 */
int recorder_commit(
    struct recorder *recorder, const struct moment *now, struct error *error);

#endif
