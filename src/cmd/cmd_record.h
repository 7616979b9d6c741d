/* cmd_record.h - see table.c. */
#ifndef STRATA_CMD_CMD_RECORD_H
#define STRATA_CMD_CMD_RECORD_H

struct options;

/* Returns an enum exit_code. */
int cmd_record(const struct options *options);

#endif
