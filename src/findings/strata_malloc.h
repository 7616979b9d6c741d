/* strata_malloc.h - rules on the figures of strata's own malloc. */
#ifndef STRATA_FINDINGS_STRATA_MALLOC_H
#define STRATA_FINDINGS_STRATA_MALLOC_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most. 0 or -ENOMEM.
 */

/* A member is near its STRATA_LIMIT, or requests were refused because of it. */
int rule_strata_limit(const struct snapshot *snapshot, struct finding_list *list);

/* Free memory that stays resident, in all members together. */
int rule_strata_retained(const struct snapshot *snapshot, struct finding_list *list);

#endif
