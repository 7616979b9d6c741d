/* descriptor.h - read(2) and write(2) until it is done. */
#ifndef STRATA_BASE_DESCRIPTOR_H
#define STRATA_BASE_DESCRIPTOR_H

#include <stddef.h>
#include <sys/types.h>

#include "base/buffer.h"

/* One read of at most bytes, tried again when a signal interrupts it: how many, 0 at the end, or -errno. */
ssize_t descriptor_read(int fd, void *data, size_t bytes);

/*
 * Appends all there is up to the end to buffer, which may then be maximum_bytes long. A short read
 * is not the end: files of /proc and pipes come in pieces. 0, -EFBIG when there is more,
 * -ENOMEM, or -errno.
 */
int descriptor_read_all(int fd, size_t maximum_bytes, struct buffer *buffer);

/* Writes all bytes. 0 or -errno. */
int descriptor_write_all(int fd, const void *data, size_t bytes);

#endif
