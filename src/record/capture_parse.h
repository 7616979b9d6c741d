/* capture_parse.h - the text of a capture as facts, before the rules between fields. */
#ifndef STRATA_RECORD_CAPTURE_PARSE_H
#define STRATA_RECORD_CAPTURE_PARSE_H

#include <stddef.h>

#include "base/error.h"
#include "facts_types/facts.h"

/* The first key of every capture, and its value. */
#define CAPTURE_FORMAT_KEY "format"
#define CAPTURE_FORMAT "strata-capture"

/*
 * Fills facts, which is zeroed but for its region, from text whose size, nesting and
 * memory of the values the caller has bounded. 0, -EINVAL, -EPROTO, -EFBIG or -ENOMEM as
 * capture_read(), with error set (not NULL).
 */
int capture_parse(
    const char *text, size_t bytes, struct facts *facts, struct error *error);

#endif
