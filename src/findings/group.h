/* group.h - rules on several processes that share memory. */
#ifndef STRATA_FINDINGS_GROUP_H
#define STRATA_FINDINGS_GROUP_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* The sum of Rss counts shared pages once for each process. */
int rule_rss_sum_overstates(const struct snapshot *snapshot, struct finding_list *list);

#endif
