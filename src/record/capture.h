/* capture.h - facts of one moment to a file and back, byte for byte the same facts. */
#ifndef STRATA_RECORD_CAPTURE_H
#define STRATA_RECORD_CAPTURE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "facts_types/facts.h"

/*
 * A capture is one JSON object; record/schema.c describes it, one row for each field.
 * What stays readable: fields may be added at any time, and a key that a capture does
 * not have means what a zeroed struct means (absent, 0, none; -1 for an index). A
 * field is never renamed and never changes its meaning or unit; when that must be,
 * FACTS_SCHEMA grows. Unknown keys are skipped, so an older strata reads a newer
 * capture of the same schema.
 */
enum {
    CAPTURE_MAX_BYTES = 256 << 20, /* a larger file is refused before it is parsed */
    CAPTURE_MAX_VALUES = 6 << 20,  /* keys, values and brackets in the text */
    CAPTURE_MAX_DEPTH = 12,        /* nesting; ours is 8 */
    CAPTURE_MAX_REGION_BYTES = 1 << 30,
};

/*
 * Appends facts as one JSON document. 0; -EINVAL when facts break a rule of
 * capture_check(); -EFBIG when capture_read() would refuse the size; -ENOMEM. error says
 * which, and may be NULL.
 */
int capture_write(const struct facts *facts, struct buffer *buffer, struct error *error);

/*
 * Reads a document made by capture_write(), of any schema up to ours; name is the
 * file's, for messages: "cannot read capture 'NAME': ...". The text is not trusted: a
 * known key of the wrong type or out of its range is an error, and the result passes
 * capture_check(). 0, -EINVAL (not a capture, or damaged), -EPROTO (newer schema),
 * -EFBIG or -ENOMEM. On success facts must be released with
 * region_release(&facts->region).
 */
int capture_read(const char *name, const char *text, size_t bytes, struct facts *facts,
    struct error *error);

/*
 * Checks what every consumer of facts relies on: texts that are never NULL, enums and
 * indexes in their range, numbers of items within facts.h, mappings and spans sorted
 * and apart. 0, or -EINVAL with error (may be NULL) naming the field.
 */
int capture_check(const struct facts *facts, struct error *error);

/*
 * Reads the file path. As capture_read(), and -errno of open or read; "-" is standard
 * input.
 */
int capture_load(const char *path, struct facts *facts, struct error *error);

/*
 * Writes the file path whole or not at all, readable by its owner only: a capture tells
 * much about a machine. As capture_write(), and -errno of the file; "-" is standard output.
 */
int capture_save(const struct facts *facts, const char *path, struct error *error);

#endif
