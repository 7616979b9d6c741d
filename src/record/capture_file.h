/* capture_file.h - captures as files. */
#ifndef STRATA_RECORD_CAPTURE_FILE_H
#define STRATA_RECORD_CAPTURE_FILE_H

#include "base/error.h"
#include "facts_types/facts.h"

/* Reads the capture at path, "-" for standard input. As capture_read(), or -errno. */
int capture_load(const char *path, struct facts *facts, struct error *error);

/*
 * Writes facts to path, "-" for standard output. A regular file appears whole or not at
 * all and is readable by its owner only, since a capture tells much about a machine;
 * a pipe or device is written as it is. As capture_write(), or -errno.
 */
int capture_save(const struct facts *facts, const char *path, struct error *error);

#endif
