/*
 * rules.c - the one table of rules. `strata rules`, docs/findings.md and the findings
 * themselves come from it, in this order. Its rows, which are mostly prose, stand in rules/,
 * a file for each subject.
 *
 * An id is part of the contract: scripts look for it. The numbers in threshold are those of
 * the constants at the head of each family's file; the tests of each family ask each rule for
 * its edges.
 */
#include <stddef.h>

#include "findings/allocator.h"
#include "findings/arenas.h"
#include "findings/cgroup.h"
#include "findings/container.h"
#include "findings/finding.h"
#include "findings/fpm.h"
#include "findings/fragmentation.h"
#include "findings/glibc.h"
#include "findings/group.h"
#include "findings/growth.h"
#include "findings/mysql.h"
#include "findings/mysql_schema.h"
#include "findings/php.h"
#include "findings/reservation.h"
#include "findings/resident.h"
#include "findings/stacks.h"
#include "findings/strata_malloc.h"
#include "findings/swap.h"
#include "findings/thresholds.h"

const struct rule rule_table[] = {
#include "findings/rules/malloc.def"
#include "findings/rules/process.def"
#include "findings/rules/mysql.def"
#include "findings/rules/resident.def"
#include "findings/rules/cgroup.def"
#include "findings/rules/php.def"
#include "findings/rules/time.def"
    {.id = NULL},
};
