/* recording_list.h - everything in a recording but ticks and captures. */
#ifndef STRATA_RECORD_RECORDING_LIST_H
#define STRATA_RECORD_RECORDING_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "record/recording.h"

/* Fills the lists of a recording whose database is open and checked. 0 or -errno. */
int recording_lists_read(struct recording *recording, struct error *error);

/* Time of a row by its session and boot_ms; false when there is no such session. */
bool recording_time(
    const struct recording *recording, int64_t session, int64_t boot_ms, int64_t *at_ms);

#endif
