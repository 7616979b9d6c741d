/* report_change.h - the last looks of two recordings at the same targets, side by side. */
#ifndef STRATA_CMD_REPORT_CHANGE_H
#define STRATA_CMD_REPORT_CHANGE_H

#include <stddef.h>

#include "cmd/past.h"
#include "model/timeline.h"
#include "present/report.h"

enum { REPORT_MOST_CHANGES = 16 };

struct report_changes {
    struct account now[REPORT_MOST_CHANGES];
    struct past past[REPORT_MOST_CHANGES];
    struct report_change items[REPORT_MOST_CHANGES]; /* of the two above */
    size_t count;
};

/* A recording, and the span of it that is shown. */
struct report_source {
    const char *path;
    const struct timeline *timeline;
};

/*
 * The targets that both have (by name, or the only ones of both) and both looked into; the first
 * few. A look that cannot be read is left out.
 */
void report_changes_read(const struct report_source *now,
    const struct report_source *before, struct report_changes *changes);

void report_changes_release(struct report_changes *changes);

#endif
