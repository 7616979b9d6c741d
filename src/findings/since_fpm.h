/* since_fpm.h - what a pool of FPM shows of a change to its settings. */
#ifndef STRATA_FINDINGS_SINCE_FPM_H
#define STRATA_FINDINGS_SINCE_FPM_H

#include "findings/since.h"

/*
 * Do workers end earlier now than before: when they are idle (pm = ondemand, or a shorter
 * pm.process_idle_timeout) or after some work (pm.max_requests). text: of region, or NULL.
 */
enum since_force since_fpm_force(const struct facts *before, const struct facts *now,
    struct region *region, const char **text);

#endif
