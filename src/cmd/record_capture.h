/* record_capture.h - the costly reading of one target of a recording. */
#ifndef STRATA_CMD_RECORD_CAPTURE_H
#define STRATA_CMD_RECORD_CAPTURE_H

#include "base/error.h"
#include "cmd/record_session.h"

/*
 * Reads what `strata explain` would read, stores it as a capture, and its layers and
 * findings as figures. What cannot be read is an event and no failure. 0, or -ENOMEM and
 * the like with error set.
 */
int record_capture(
    struct record_session *session, struct record_target *target, struct error *error);

#endif
