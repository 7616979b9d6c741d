/* safe_text.h - untrusted text made harmless for a terminal, and its width there. */
#ifndef STRATA_PRESENT_SAFE_TEXT_H
#define STRATA_PRESENT_SAFE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"

/* One character in the form in which it may be shown. */
struct safe_character {
    const char *text; /* bytes of it, not NUL terminated */
    size_t bytes;
    int columns; /* 0 for a combining mark, 2 for wide East Asian characters */
};

/*
 * The first character of text (which must not be empty), and where the next one starts.
 * What could steer the terminal or reorder the line becomes '?': control characters, DEL,
 * bytes that are not UTF-8, bidirectional overrides; and all but ASCII when utf8 is false.
 */
const char *safe_text_next(const char *text, bool utf8, struct safe_character *character);

void safe_text_append(struct buffer *buffer, const char *text, bool utf8);

/* Columns that the text takes when it is shown this way. */
int safe_text_columns(const char *text, bool utf8);

#endif
