/* cmd_explain.h - see table.c. */
#ifndef STRATA_CMD_CMD_EXPLAIN_H
#define STRATA_CMD_CMD_EXPLAIN_H

struct options;

/* Returns an enum exit_code. */
int cmd_explain(const struct options *options);

#endif
