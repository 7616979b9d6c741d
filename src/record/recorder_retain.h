/* recorder_retain.h - what an old or large recording gives up. */
#ifndef STRATA_RECORD_RECORDER_RETAIN_H
#define STRATA_RECORD_RECORDER_RETAIN_H

#include "base/error.h"
#include "record/recorder.h"

/* Removes what is too old or too much. 0 or -errno. */
int recorder_retain(struct recorder *recorder, struct error *error);

#endif
