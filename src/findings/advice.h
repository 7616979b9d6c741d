/* advice.h - which of the findings to act on, and what these give back together. */
#ifndef STRATA_FINDINGS_ADVICE_H
#define STRATA_FINDINGS_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"

enum { ADVICE_MAX = 8 };

/*
 * The changes to make, best first. No two of them give back the same bytes, so the range is the
 * sum of theirs, and one restart does for all. Points into the list, which must outlive it.
 */
struct advice {
    const struct finding *first[ADVICE_MAX];
    size_t count;
    uint64_t low_bytes;
    uint64_t high_bytes;
    enum confidence confidence; /* the least of theirs */
};

/*
 * Of the findings that give back the same bytes the one from which most is to be expected, as soon
 * as one of them is a warning; empty when no warning gives anything back.
 */
void advice_of(const struct finding_list *list, struct advice *advice);

/*
 * The one of advice->first that stands for this finding: the finding itself, one that gives back
 * the same bytes ("instead of this one"), or NULL when the advice does not touch its bytes.
 */
const struct finding *advice_instead(
    const struct advice *advice, const struct finding *finding);

/*
 * What to expect of a change, for comparisons alone: the middle of its range less what it may
 * cost, less the rougher the range is, and less when its effect does not last.
 */
uint64_t advice_expected_bytes(const struct finding *finding);

#endif
