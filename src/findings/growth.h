/* growth.h - rules on how memory went over time; they need a recording. */
#ifndef STRATA_FINDINGS_GROWTH_H
#define STRATA_FINDINGS_GROWTH_H

#include "findings/finding.h"
#include "model/course.h"

/*
 * Rules for the table in rules.c; see run_course of struct rule. Each adds one finding at
 * most. 0 or -ENOMEM.
 */

/* It grows, and as fast as ever. */
int rule_growth_leak(const struct course *course, struct finding_list *list);

/* It grew, and has stopped or slows down. */
int rule_growth_plateau(const struct course *course, struct finding_list *list);

#endif
