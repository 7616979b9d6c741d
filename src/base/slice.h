/* slice.h - a piece of a text that is not NUL terminated, for parsers that copy nothing. */
#ifndef STRATA_BASE_SLICE_H
#define STRATA_BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>

/* Borrows the text it points into; bytes 0 is empty, whatever text is. */
struct slice {
    const char *text;
    size_t bytes;
};

/*
 * Cuts the piece in front of the next separator off rest, and the separator too. False
 * when rest is empty. "a//b" gives "a", "", "b".
 */
bool slice_next(struct slice *rest, char separator, struct slice *piece);

bool slice_is(struct slice slice, const char *text);
bool slice_starts_with(struct slice slice, const char *prefix);
bool slice_ends_with(struct slice slice, const char *suffix);

/* Without its first bytes, at most all of them. */
struct slice slice_cut_front(struct slice slice, size_t bytes);

/* Without suffix when it ends with it, else as it is. */
struct slice slice_cut_suffix(struct slice slice, const char *suffix);

/* True when word is one of the pieces between separators. */
bool slice_list_has(struct slice list, char separator, const char *word);

#endif
