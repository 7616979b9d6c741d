/* cmd_run.h - `strata run`: a command on the malloc replacement. */
#ifndef STRATA_CMD_CMD_RUN_H
#define STRATA_CMD_CMD_RUN_H

#include "cmd/options.h"

/* How it ends besides with the command's own exit code; as of env(1) and timeout(1). */
enum { EXIT_NOT_ACTING = 125, EXIT_CANNOT_RUN = 126, EXIT_NO_COMMAND = 127 };

int cmd_run(const struct options *options);

#endif
