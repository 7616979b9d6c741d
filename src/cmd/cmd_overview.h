/* cmd_overview.h - plain `strata`, see table.c. */
#ifndef STRATA_CMD_CMD_OVERVIEW_H
#define STRATA_CMD_CMD_OVERVIEW_H

struct options;

/* Returns an enum exit_code. */
int cmd_overview(const struct options *options);

#endif
