/* cmd_help.h - see table.c. */
#ifndef STRATA_CMD_CMD_HELP_H
#define STRATA_CMD_CMD_HELP_H

struct options;

/* Returns an enum exit_code. */
int cmd_help(const struct options *options);

#endif
