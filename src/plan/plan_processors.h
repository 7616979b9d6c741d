/* plan_processors.h - how many of the workers that fit processors can have work for. */
#ifndef STRATA_PLAN_PLAN_PROCESSORS_H
#define STRATA_PLAN_PLAN_PROCESSORS_H

#include "plan/plan.h"

/* With so many for each processor, all are of use only when each computes for 3 % of its time. */
enum {
    PLAN_WORKERS_PER_PROCESSOR = 32,
    PLAN_PROCESSORS_MOST = 1 << 16, /* NR_CPUS is at most 8192; a file may say anything */
};

/*
 * Workers to configure: as many as fit, but not more than processors can have work for, and not
 * fewer for that reason than run now.
 */
uint64_t plan_workers_to_set(
    const struct plan_input *input, const struct plan *plan, enum plan_case_id planned);

#endif
