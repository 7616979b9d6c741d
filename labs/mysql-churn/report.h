/*
 * report.h - the table, the judgement and the picture of a series of trials.
 */
#ifndef STRATA_LABS_MYSQL_CHURN_REPORT_H
#define STRATA_LABS_MYSQL_CHURN_REPORT_H

#include <stdint.h>

#include "trial.h"

enum { REPORT_SERIES = 2 };

/* Counts over all repetitions, by way. */
struct report {
    int64_t judged[WAYS];
    int64_t
        within[WAYS]; /* those that save nothing where nothing was the least, included */
    int64_t nothing[WAYS];       /* of these, those where more was resident than before */
    int64_t saved[WAYS];         /* bytes, summed */
    int64_t width_percent[WAYS]; /* of the gap between resident and tracked, summed */
};

void report_head(const struct views *views);

/* One row; before is the first trial of the series. */
void report_row(const struct trial *before, const struct trial *trial, enum way way);

/* Counts whether what was saved lies in the predicted range. */
void report_judge(struct report *report, const struct trial *before,
    const struct trial *trial, enum way way);

/* Prints what was counted. */
void report_end(const struct report *report);

/* One series for the picture. */
struct report_series {
    int64_t clients;
    int64_t ways;
    const struct trial *trials;
};

/* Writes the picture: measured bars, predicted ranges, and the published case. 0 or -errno. */
int report_plot(const char *path, const struct report_series *series, size_t count);

#endif
