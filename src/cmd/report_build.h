/* report_build.h - a recording as a timeline. */
#ifndef STRATA_CMD_REPORT_BUILD_H
#define STRATA_CMD_REPORT_BUILD_H

#include "base/error.h"
#include "model/timeline.h"
#include "record/recording.h"

/* Processes that get plots; of more, those with the highest peaks. */
enum { REPORT_MOST_MEMBERS = 300 };

/*
 * Reads the span from_ms to to_ms of recording twice: to see who lived, and to collect
 * the points of those who matter. 0, or -ENODATA (no tick in the span), -ENOMEM or -errno with
 * error set and nothing to release; else release timeline->region.
 */
int report_build(const struct recording *recording, const char *file, int64_t from_ms,
    int64_t to_ms, struct timeline *timeline, struct error *error);

#endif
