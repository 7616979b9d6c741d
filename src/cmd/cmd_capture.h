/* cmd_capture.h - see table.c. */
#ifndef STRATA_CMD_CMD_CAPTURE_H
#define STRATA_CMD_CMD_CAPTURE_H

struct options;

/* Returns an enum exit_code. */
int cmd_capture(const struct options *options);

#endif
