/* cmd_lab.h - `strata lab [NAME]`: runs an experiment and sets it beside published figures. */
#ifndef STRATA_CMD_CMD_LAB_H
#define STRATA_CMD_CMD_LAB_H

#include "cmd/options.h"

struct lab_row {
    const char *name; /* of the lab; its program is lab-NAME */
    const char *summary;
};

/* The labs, in the order of their list; ends with name NULL. */
extern const struct lab_row lab_table[];

int cmd_lab(const struct options *options);

#endif
