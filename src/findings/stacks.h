/* stacks.h - rules on the stacks of threads. */
#ifndef STRATA_FINDINGS_STACKS_H
#define STRATA_FINDINGS_STACKS_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* Stacks of threads, alive or kept for the next one. */
int rule_thread_stacks(const struct snapshot *snapshot, struct finding_list *list);

#endif
