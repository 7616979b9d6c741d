/* cmd_export.h - `strata export`. */
#ifndef STRATA_CMD_CMD_EXPORT_H
#define STRATA_CMD_CMD_EXPORT_H

struct options;

int cmd_export(const struct options *options);

#endif
