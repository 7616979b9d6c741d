/* recorder_open.h - starts, resumes and ends a session of recording. */
#ifndef STRATA_RECORD_RECORDER_OPEN_H
#define STRATA_RECORD_RECORDER_OPEN_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "facts_types/moment.h"
#include "record/recorder.h"

/*
 * Starts or resumes the recording at path, which is made when it is not there, readable by
 * its owner only. A second recorder on the same file is refused (-EBUSY). 0 or -errno with
 * error set: -EINVAL not a recording, -EPROTO newer schema.
 */
int recorder_open(const char *path, const struct recorder_options *options,
    const struct moment *now, struct recorder **recorder, struct error *error);

/* Number of a metric, made when it is new. Only before the first subject. -EFBIG, -ENOMEM. */
int recorder_metric(
    struct recorder *recorder, const char *name, const char *unit, size_t *metric);

/* Ends the session: cpu_us is what it took. 0 or -errno; the recorder is gone either way. */
int recorder_close(struct recorder *recorder, const struct moment *now, uint64_t cpu_us,
    struct error *error);

#endif
