/* record_progress.h - what `strata record` says on standard error while nothing is wrong. */
#ifndef STRATA_CMD_RECORD_PROGRESS_H
#define STRATA_CMD_RECORD_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "cmd/record_session.h"

struct record_progress {
    int64_t start_ms; /* boot clock */
    uint64_t cpu_before_us;
    bool on_terminal;
    bool line_is_open; /* a line stands on the terminal, to be written over */
};

/* Processor time of this process up to now. */
uint64_t record_cpu_us(void);

/*
 * From session->now on. Who is recorded into which file until when is told in one line, unless
 * standard error is a terminal, where a line that is kept up to date tells the rest.
 */
void record_progress_begin(struct record_progress *progress,
    const struct record_session *session, const char *output);

/* Writes the line on the terminal anew; now_ms is the boot clock. Elsewhere nothing. */
void record_progress_show(struct record_progress *progress,
    const struct record_session *session, int64_t now_ms);

/* Takes the line away, for what is said next. */
void record_progress_end(struct record_progress *progress);

#endif
