/* capture.h - facts of one moment to a file and back, byte for byte the same facts. */
#ifndef STRATA_RECORD_CAPTURE_H
#define STRATA_RECORD_CAPTURE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "facts_types/facts.h"

/* A larger file is refused before it is parsed. */
enum { CAPTURE_MAX_BYTES = 256 << 20 };

/* Appends facts as one JSON document. 0 or -ENOMEM. */
int capture_write(const struct facts *facts, struct buffer *buffer);

/*
 * Reads a document made by capture_write(), of any schema up to ours. The text is not
 * trusted: unknown keys are skipped, a known key of the wrong type or out of its range
 * is an error, numbers of items are bounded by facts.h. 0, -EINVAL (not a capture, or
 * damaged), -EPROTO (newer schema), -EFBIG or -ENOMEM; error says where. On success
 * facts must be released with region_release(&facts->region).
 */
int capture_read(
    const char *text, size_t bytes, struct facts *facts, struct error *error);

#endif
