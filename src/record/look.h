/* look.h - facts as a few bytes, for an account that is made again later. */
#ifndef STRATA_RECORD_LOOK_H
#define STRATA_RECORD_LOOK_H

#include "base/buffer.h"
#include "facts_types/facts.h"

/* Bounds of one look; docs/howto.md has what a pool of 200 workers takes. */
enum {
    LOOK_MOST_BYTES = 512 << 10,
    LOOK_MOST_PLAIN_BYTES = 16 << 20, /* of the capture in it */
    LOOK_MOST_ROWS = 50000,           /* mappings and spans */
};

/*
 * Appends a line with the plain size and a deflated capture of thin_facts(). 0; -EFBIG beyond the
 * bounds; -EINVAL, -ENOMEM as capture_write().
 */
int look_pack(const struct facts *facts, struct buffer *packed);

/*
 * Facts of a packed look, which is not trusted; name is for no message. 0 (then facts must be
 * released with their region), -EINVAL for what is no look, or as capture_read().
 */
int look_unpack(const char *name, const struct buffer *packed, struct facts *facts);

#endif
