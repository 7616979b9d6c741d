/* message.h - the two ways out: standard output, whole; standard error, one line each. */
#ifndef STRATA_CMD_MESSAGE_H
#define STRATA_CMD_MESSAGE_H

#include "base/buffer.h"

/*
 * "strata: text" on standard error. Untrusted names in it are made safe; line ends
 * inside are kept, since errors may list what they found.
 */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * Writes the whole buffer to standard output. 0, or -errno after a message: also when
 * the buffer ran out of memory, as half a document must not look like a whole one.
 */
int print_buffer(const struct buffer *buffer);

/* Closes standard output, where some file systems report errors; as print_buffer(). */
int print_end(void);

#endif
