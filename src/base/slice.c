/*
 * slice.c - comparing and cutting pieces of text by length, never by a NUL.
 *
 * The text may be const, mapped or part of a larger buffer; nothing here writes, copies
 * or reads behind the end of a slice.
 */
#include "base/slice.h"

#include <string.h>

bool slice_next(struct slice *rest, char separator, struct slice *piece)
{
    const char *end;

    if (rest->bytes == 0) {
        return false;
    }
    end = memchr(rest->text, separator, rest->bytes);
    piece->text = rest->text;
    piece->bytes = end == NULL ? rest->bytes : (size_t)(end - rest->text);
    *rest = slice_cut_front(*rest, piece->bytes + 1);
    return true;
}

bool slice_is(struct slice slice, const char *text)
{
    return slice.bytes == strlen(text) && slice_starts_with(slice, text);
}

bool slice_starts_with(struct slice slice, const char *prefix)
{
    size_t bytes = strlen(prefix);

    return slice.bytes >= bytes && (bytes == 0 || memcmp(slice.text, prefix, bytes) == 0);
}

bool slice_ends_with(struct slice slice, const char *suffix)
{
    size_t bytes = strlen(suffix);

    return slice.bytes >= bytes &&
           (bytes == 0 || memcmp(slice.text + slice.bytes - bytes, suffix, bytes) == 0);
}

struct slice slice_cut_front(struct slice slice, size_t bytes)
{
    bytes = bytes > slice.bytes ? slice.bytes : bytes;
    return bytes == 0 ? slice : (struct slice){slice.text + bytes, slice.bytes - bytes};
}

struct slice slice_cut_suffix(struct slice slice, const char *suffix)
{
    slice.bytes -= slice_ends_with(slice, suffix) ? strlen(suffix) : 0;
    return slice;
}

bool slice_list_has(struct slice list, char separator, const char *word)
{
    struct slice piece;

    while (slice_next(&list, separator, &piece)) {
        if (slice_is(piece, word)) {
            return true;
        }
    }
    return false;
}
