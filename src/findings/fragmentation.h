/* fragmentation.h - free memory of glibc malloc between blocks in use. */
#ifndef STRATA_FINDINGS_FRAGMENTATION_H
#define STRATA_FINDINGS_FRAGMENTATION_H

#include "findings/finding.h"

int rule_glibc_fragmentation(const struct snapshot *snapshot, struct finding_list *list);

#endif
