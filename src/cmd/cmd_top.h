/* cmd_top.h - `strata top`. */
#ifndef STRATA_CMD_CMD_TOP_H
#define STRATA_CMD_CMD_TOP_H

struct options;

int cmd_top(const struct options *options);

#endif
