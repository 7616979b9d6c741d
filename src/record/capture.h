/* capture.h - facts of one moment as text and back, byte for byte the same facts. */
#ifndef STRATA_RECORD_CAPTURE_H
#define STRATA_RECORD_CAPTURE_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "facts_types/facts.h"

/*
 * A capture is one JSON object; schema.c describes it, one row for each field.
 * What stays readable: fields may be added at any time, and a key that a capture does
 * not have means what a zeroed struct means (absent, 0, none; -1 for an index). A
 * field is never renamed and never changes its meaning or unit; when that must be,
 * FACTS_SCHEMA grows. Unknown keys are skipped, so an older strata reads a newer
 * capture of the same schema.
 */
enum {
    CAPTURE_MAX_BYTES = 256 << 20,    /* a larger text is refused before it is parsed */
    CAPTURE_MAX_TREE_BYTES = 1 << 30, /* as json_bounds counts them */
    CAPTURE_MAX_DEPTH = 12,           /* nesting; ours is 8 */
    CAPTURE_MAX_REGION_BYTES = 512 << 20,
};

/*
 * Appends facts as one JSON document. 0; -EINVAL when facts break a rule of
 * capture_check(); -EFBIG when capture_read() would refuse the size; -ENOMEM. error says
 * which, and may be NULL.
 */
int capture_write(const struct facts *facts, struct buffer *buffer, struct error *error);

/* The same document on one line, for who is no reader: half the bytes. */
int capture_write_dense(
    const struct facts *facts, struct buffer *buffer, struct error *error);

/*
 * Reads a document made by capture_write(), of any schema up to ours; name is the
 * file's, for messages: "cannot read capture 'NAME': ...". The text is not trusted: a
 * known key of the wrong type or out of its range is an error, and the result passes
 * capture_check(). 0, -EINVAL (not a capture, or damaged), -EPROTO (newer schema),
 * -EFBIG or -ENOMEM. On success facts must be released with
 * region_release(&facts->region); on failure there is nothing to release.
 */
int capture_read(const char *name, const char *text, size_t bytes, struct facts *facts,
    struct error *error);

#endif
