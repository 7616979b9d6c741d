/* arenas.h - rules on many arenas of glibc malloc, and what fewer would save. */
#ifndef STRATA_FINDINGS_ARENAS_H
#define STRATA_FINDINGS_ARENAS_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* More arenas than a cap of two, each with a reserve of its own. */
int rule_glibc_arenas(const struct snapshot *snapshot, struct finding_list *list);

#endif
