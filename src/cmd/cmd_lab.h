/* cmd_lab.h - `strata lab [NAME]`: runs an experiment and sets it beside published figures. */
#ifndef STRATA_CMD_CMD_LAB_H
#define STRATA_CMD_CMD_LAB_H

#include <stdint.h>

#include "cmd/options.h"

/* Memory of all that a lab starts, at its largest: base_mib + each_kib * the setting. */
struct lab_memory {
    uint64_t base_mib;
    const char *setting; /* by which it takes more or less; NULL: by none */
    uint64_t value;      /* of the setting when it is not given */
    uint64_t each_kib;
};

struct lab_row {
    const char *name; /* of the lab; its program is lab-NAME */
    const char *summary;
    struct lab_memory memory;
};

/* The labs, in the order of their list; ends with name NULL. */
extern const struct lab_row lab_table[];

int cmd_lab(const struct options *options);

#endif
