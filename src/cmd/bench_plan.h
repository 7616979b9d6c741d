/* bench_plan.h - from a bench to a plan: what is kept of a look, and back. */
#ifndef STRATA_CMD_BENCH_PLAN_H
#define STRATA_CMD_BENCH_PLAN_H

#include "base/region.h"
#include "plan/pool_plan.h"
#include "trial/trial.h"

/*
 * Fills row->plan from the look in the middle of the load and the samples of all runs; leaves
 * it unknown when the look is missing. The samples move to the row, which owns them. 0 or
 * -errno.
 */
int bench_plan_keep(struct trial_look *look, struct result_row *row);

/* A plan's input from what a result holds; name and samples are borrowed. */
void bench_plan_input(const struct result_plan *kept, const char *name,
    const struct plan_wishes *wishes, struct plan_input *input);

#endif
