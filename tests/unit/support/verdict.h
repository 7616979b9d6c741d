/* verdict.h - what strata must say on a case: read from a file, compared with findings. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_VERDICT_H
#define STRATA_TESTS_UNIT_SUPPORT_VERDICT_H

#include "base/error.h"
#include "findings/finding.h"

/*
 * text has one expectation a line; blank lines and those that start with # are skipped:
 *   says RULE SEVERITY             every rule that speaks must be named by such a line
 *   silent RULE
 *   evidence RULE NAME VALUE
 *   predicted RULE LOW HIGH
 *   predicts-around RULE VALUE     the range holds the value that was seen
 *   fix RULE TEXT                  the lines to paste contain TEXT
 *   never TEXT                     no finding's fix contains TEXT
 *   layer NAME VALUE               of the whole target
 *   part LAYER PART VALUE
 *   container FIGURE VALUE         docker, docker_19, kubelet, podman, non_reclaimable,
 *                                  headroom
 * 0, or -EINVAL with error, which names the line and what was found instead.
 */
int verdict_check(const char *text, const struct snapshot *snapshot,
    const struct finding_list *list, struct error *error);

#endif
