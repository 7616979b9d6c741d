/* allocator.h - rules on allocators other than glibc, and how pages are given back. */
#ifndef STRATA_FINDINGS_ALLOCATOR_H
#define STRATA_FINDINGS_ALLOCATOR_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* An allocator whose books cannot be read from outside. */
int rule_allocator_opaque(const struct snapshot *snapshot, struct finding_list *list);

/* LD_PRELOAD names a library that is not in the process. */
int rule_preload_not_active(const struct snapshot *snapshot, struct finding_list *list);

/* Freed memory that the kernel takes back only when it is short. */
int rule_lazy_free(const struct snapshot *snapshot, struct finding_list *list);

/* Anonymous memory in huge pages, which are resident as a whole. */
int rule_thp_inflation(const struct snapshot *snapshot, struct finding_list *list);

#endif
