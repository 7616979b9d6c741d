/* plan_savings.h - what the findings on a pool promise for each of its workers. */
#ifndef STRATA_CMD_PLAN_SAVINGS_H
#define STRATA_CMD_PLAN_SAVINGS_H

#include "findings/finding.h"
#include "plan/plan.h"

/*
 * Appends a saving for each prediction that a setting of the allocator would bring about,
 * divided by the workers, and one for an allocator that gives free pages back.
 */
void plan_savings(const struct finding_list *list, struct plan_input *input);

#endif
