/* report_json.h - the data of a report. */
#ifndef STRATA_PRESENT_REPORT_JSON_H
#define STRATA_PRESENT_REPORT_JSON_H

#include "base/json_writer.h"
#include "present/report.h"

/*
 * The object of the page's data. exact: plots as bytes and times; else as differences in
 * KiB and milliseconds, which take a third of the room.
 */
void report_json_write(struct json_writer *json, const struct report_part *part,
    const struct report_before *before, bool exact);

#endif
