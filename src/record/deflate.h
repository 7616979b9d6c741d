/* deflate.h - bytes made small for a recording, and back with a bound. */
#ifndef STRATA_RECORD_DEFLATE_H
#define STRATA_RECORD_DEFLATE_H

#include <stddef.h>

#include "base/buffer.h"

/*
 * Of one capture the fast level gives 95 % of what the thorough one saves, for half of the time.
 * Where the same comes again and again, as the workers of a pool do, the thorough one takes
 * twice the time for a quarter of the bytes.
 */
enum deflate_level { DEFLATE_FAST = 3, DEFLATE_THOROUGH = 6 };

/* Appends data as a zlib stream (RFC 1950). 0 or -ENOMEM. */
int deflate_append(
    struct buffer *buffer, const void *data, size_t bytes, enum deflate_level level);

/*
 * Appends what the stream at data holds, which must be plain_bytes, no more and no less:
 * 0, -EINVAL for another size or a damaged stream, -ENOMEM.
 */
int inflate_append(
    struct buffer *buffer, const void *data, size_t bytes, size_t plain_bytes);

#endif
