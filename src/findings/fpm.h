/* fpm.h - rules on how PHP-FPM's pools are configured, against what the machine has. */
#ifndef STRATA_FINDINGS_FPM_H
#define STRATA_FINDINGS_FPM_H

#include "findings/finding.h"

/* Rules for the table in rules.c; see struct rule. 0 or -ENOMEM. */

/* All workers at their memory_limit do not fit. */
int rule_fpm_worst_case(const struct snapshot *snapshot, struct finding_list *list);

/* As many workers as the pools allow, each as large as today's, do not fit. */
int rule_fpm_children_overcommit(
    const struct snapshot *snapshot, struct finding_list *list);

/* opcache.memory_consumption set for a pool: it has no effect. */
int rule_fpm_opcache_in_pool(const struct snapshot *snapshot, struct finding_list *list);

/* The status page's memory of the last request, beside what the worker's heap says. */
int rule_fpm_status_memory(const struct snapshot *snapshot, struct finding_list *list);

#endif
