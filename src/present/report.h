/* report.h - a recording as one page that needs nothing but a browser. */
#ifndef STRATA_PRESENT_REPORT_H
#define STRATA_PRESENT_REPORT_H

#include "base/buffer.h"
#include "findings/finding.h"
#include "findings/since.h"
#include "model/timeline.h"

/* One recording with what the rules on time say of it. */
struct report_part {
    const struct timeline *timeline;
    const struct finding_list *courses; /* of findings_run_courses() over its subjects */
};

/* What became of one target of a part since the recording before. */
struct report_change {
    uint32_t subject; /* id of the target in the recording that is shown */
    const struct since *since;
};

/* The recording to compare with. */
struct report_before {
    struct report_part part;
    const struct report_change *changes;
    size_t change_count;
};

/*
 * Appends the page: data, plots, style and program in one file, which asks for nothing from
 * the network and says so to the browser (Content-Security-Policy). Names and texts are
 * untrusted: they are only in JSON, and the page's program never makes markup of them. before
 * is the recording to compare with, or NULL. Failure to grow is the buffer's.
 */
void present_report(const struct report_part *part, const struct report_before *before,
    struct buffer *buffer);

/* The same data as a JSON document, for machines; docs/json.md describes it. */
void present_report_json(const struct report_part *part,
    const struct report_before *before, struct buffer *buffer);

#endif
