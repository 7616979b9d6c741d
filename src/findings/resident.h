/* resident.h - rules on the make-up of the resident set. */
#ifndef STRATA_FINDINGS_RESIDENT_H
#define STRATA_FINDINGS_RESIDENT_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* A large resident set that is mostly pages of files. */
int rule_file_pages_look_alarming(
    const struct snapshot *snapshot, struct finding_list *list);

/* Resident memory without an owner. */
int rule_unexplained_residual(const struct snapshot *snapshot, struct finding_list *list);

#endif
