/* plan_recording.h - what workers took over the time of a recording. */
#ifndef STRATA_CMD_PLAN_RECORDING_H
#define STRATA_CMD_PLAN_RECORDING_H

#include "base/error.h"
#include "base/region.h"
#include "facts_types/facts.h"
#include "plan/plan.h"

/*
 * Replaces the samples of input, which were made from facts (a capture of the recording at
 * path), by the private memory of the workers at each tick, and sets the pool's concurrency.
 * target names one of several targets, NULL: the only one. input stays as it is when the
 * recording has no such figures. 0 or -errno with error set.
 */
int plan_recording_samples(struct region *region, const char *path, const char *target,
    const struct facts *facts, struct plan_input *input, struct error *error);

#endif
