/* reservation.h - rules on address space that is not, or hardly, used. */
#ifndef STRATA_FINDINGS_RESERVATION_H
#define STRATA_FINDINGS_RESERVATION_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* Large blocks that were asked for and never used. */
int rule_untouched_reservation(
    const struct snapshot *snapshot, struct finding_list *list);

/* A limit of open files so high that programs size tables by it. */
int rule_limit_nofile(const struct snapshot *snapshot, struct finding_list *list);

#endif
