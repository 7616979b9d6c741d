/* swap.h - rules on memory outside the resident set: swap and hugetlbfs. */
#ifndef STRATA_FINDINGS_SWAP_H
#define STRATA_FINDINGS_SWAP_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* Memory of the target in swap. */
int rule_swap(const struct snapshot *snapshot, struct finding_list *list);

/* Pages of hugetlbfs, which no resident set counts. */
int rule_hugetlb(const struct snapshot *snapshot, struct finding_list *list);

#endif
