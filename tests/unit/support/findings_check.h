/* findings_check.h - what holds for every list of findings, whatever the facts were. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_FINDINGS_CHECK_H
#define STRATA_TESTS_UNIT_SUPPORT_FINDINGS_CHECK_H

#include "findings/finding.h"

/* NULL when all invariants hold, else a text that says which one does not. */
const char *findings_check(const struct finding_list *list);

#endif
