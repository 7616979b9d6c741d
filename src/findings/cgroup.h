/* cgroup.h - rules on how far the limit is, and who goes first. */
#ifndef STRATA_FINDINGS_CGROUP_H
#define STRATA_FINDINGS_CGROUP_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* The distance to the limit that kills, without what can be reclaimed. */
int rule_cgroup_near_limit(const struct snapshot *snapshot, struct finding_list *list);

/* Tasks wait while the kernel reclaims for them, at memory.high or at the limit. */
int rule_cgroup_stalls(const struct snapshot *snapshot, struct finding_list *list);

#endif
