/* mysql_schema.h - rules on Performance Schema: what it counts, and what it takes itself. */
#ifndef STRATA_FINDINGS_MYSQL_SCHEMA_H
#define STRATA_FINDINGS_MYSQL_SCHEMA_H

#include "findings/finding.h"

/* Rules for the table in rules.c; see struct rule. 0 or -ENOMEM. */

/* The server cannot say what it uses, or not all of it. */
int rule_mysql_coverage(const struct snapshot *snapshot, struct finding_list *list);

/* Performance Schema's own memory. */
int rule_mysql_schema_memory(const struct snapshot *snapshot, struct finding_list *list);

#endif
