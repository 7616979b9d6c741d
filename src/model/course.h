/* course.h - how one subject of a recording went, for rules that look at time. */
#ifndef STRATA_MODEL_COURSE_H
#define STRATA_MODEL_COURSE_H

#include <stdbool.h>
#include <stdint.h>

#include "model/growth.h"

struct course {
    const char *name; /* of the target or process */
    int32_t pid;      /* 0: a target of several */
    uint32_t subject; /* its id in the recording */
    const char *file; /* the recording */
    const char *target;
    int64_t first_ms; /* seen from then */
    int64_t last_ms;
    uint64_t span_seconds;
    uint64_t last_bytes;   /* resident at the end */
    uint64_t limit_bytes;  /* what bounds it; 0: nothing known */
    struct growth by_time; /* x in seconds */
    struct growth
        by_requests; /* x in requests served; no points when nobody counts them */
};

#endif
