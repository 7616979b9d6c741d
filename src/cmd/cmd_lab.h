/* cmd_lab.h - `strata lab [NAME]`: runs an experiment and sets it beside published figures. */
#ifndef STRATA_CMD_CMD_LAB_H
#define STRATA_CMD_CMD_LAB_H

#include "cmd/options.h"

int cmd_lab(const struct options *options);

#endif
