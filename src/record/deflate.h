/* deflate.h - bytes made small for a recording, and back with a bound. */
#ifndef STRATA_RECORD_DEFLATE_H
#define STRATA_RECORD_DEFLATE_H

#include <stddef.h>

#include "base/buffer.h"

/* Appends data as a zlib stream (RFC 1950). 0 or -ENOMEM. */
int deflate_append(struct buffer *buffer, const void *data, size_t bytes);

/*
 * Appends what the stream at data holds, which must be plain_bytes, no more and no less:
 * 0, -EINVAL for another size or a damaged stream, -ENOMEM.
 */
int inflate_append(
    struct buffer *buffer, const void *data, size_t bytes, size_t plain_bytes);

#endif
