/* cmd_rules.h - see table.c. */
#ifndef STRATA_CMD_CMD_RULES_H
#define STRATA_CMD_CMD_RULES_H

struct options;

/* Returns an enum exit_code. */
int cmd_rules(const struct options *options);

#endif
