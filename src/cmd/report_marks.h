/* report_marks.h - what stands on the axis of time of a report. */
#ifndef STRATA_CMD_REPORT_MARKS_H
#define STRATA_CMD_REPORT_MARKS_H

#include "model/timeline.h"
#include "record/recording.h"

/* Nothing was recorded between two ticks. 0 or -ENOMEM. */
int report_marks_gap(struct timeline *timeline, int64_t from_ms, int64_t to_ms);

/* The events and findings of the span, each finding once from its first to its last capture. */
int report_marks_add(const struct recording *recording, struct timeline *timeline);

#endif
