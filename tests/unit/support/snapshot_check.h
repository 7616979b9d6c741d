/* snapshot_check.h - what holds for every snapshot, whatever the facts were. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_SNAPSHOT_CHECK_H
#define STRATA_TESTS_UNIT_SUPPORT_SNAPSHOT_CHECK_H

#include "model/snapshot.h"

/* NULL when all invariants hold, else a text that says which one does not. */
const char *snapshot_check(const struct snapshot *snapshot);

#endif
