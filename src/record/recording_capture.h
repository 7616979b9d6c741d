/* recording_capture.h - the captures inside a recording. */
#ifndef STRATA_RECORD_RECORDING_CAPTURE_H
#define STRATA_RECORD_RECORDING_CAPTURE_H

#include <stdint.h>

#include "base/buffer.h"
#include "base/error.h"
#include "facts_types/facts.h"
#include "record/recording.h"

/*
 * The capture of target (a subject's id; 0: of any) to look at for at_ms: the last one at or
 * before it, else the first after it. NULL when there is none.
 */
const struct recording_capture *recording_capture_at(
    const struct recording *recording, uint32_t target, int64_t at_ms);

/* Appends the text of a capture, byte for byte as `strata capture` would write it. */
int recording_capture_text(const struct recording *recording,
    const struct recording_capture *capture, struct buffer *text, struct error *error);

/* The facts of a capture, as capture_read(). */
int recording_capture_facts(const struct recording *recording,
    const struct recording_capture *capture, struct facts *facts, struct error *error);

#endif
