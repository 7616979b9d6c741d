/* whole_file.h - writes a file so that it is there whole or not at all. */
#ifndef STRATA_RECORD_WHOLE_FILE_H
#define STRATA_RECORD_WHOLE_FILE_H

#include <stdbool.h>

#include "base/buffer.h"

enum { WHOLE_FILE_OWNER_ONLY = 0600, WHOLE_FILE_FOR_ALL = 0644 };

/*
 * Writes buffer to path, "-" for standard output. A regular file is replaced at once and
 * has the given mode; a pipe or device is written as it is. 0 or -errno.
 */
int whole_file_write(const char *path, const struct buffer *buffer, unsigned mode);

/* True when both name one file that is there: writing one would end the other. */
bool whole_file_is_same(const char *path, const char *other);

#endif
