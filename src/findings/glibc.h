/* glibc.h - rules on what glibc malloc keeps, and why it does not give it back. */
#ifndef STRATA_FINDINGS_GLIBC_H
#define STRATA_FINDINGS_GLIBC_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* Free memory that malloc keeps resident, and what malloc_trim(0) would return. */
int rule_glibc_retained(const struct snapshot *snapshot, struct finding_list *list);

/* A block in use near the end of the main heap keeps all below it. */
int rule_glibc_pinned_heap(const struct snapshot *snapshot, struct finding_list *list);

#endif
