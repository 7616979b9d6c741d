/* cmd_plan.h - `strata plan`: how many workers fit. */
#ifndef STRATA_CMD_CMD_PLAN_H
#define STRATA_CMD_CMD_PLAN_H

struct options;

int cmd_plan(const struct options *options);

#endif
