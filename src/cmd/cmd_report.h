/* cmd_report.h - see table.c. */
#ifndef STRATA_CMD_CMD_REPORT_H
#define STRATA_CMD_CMD_REPORT_H

struct options;

/* Returns an enum exit_code. */
int cmd_report(const struct options *options);

#endif
