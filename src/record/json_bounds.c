/*
 * json_bounds.c - counts brackets, separators and strings in one pass.
 *
 * A parser that builds a tree turns three bytes of hostile text into hundreds of bytes of
 * memory, and recurses where the text nests. Both are bounded here first. The counts
 * are right for well-formed text; of anything else the parser will refuse the rest.
 *
 * The sizes are those of jansson 2.14 on 64 bits with glibc's malloc: an object has a table
 * of 8 buckets from its start, an array 8 places.
 */
#include "record/json_bounds.h"

#include <stdbool.h>

enum {
    OBJECT_BYTES = 240,
    ARRAY_BYTES = 144,
    PAIR_BYTES = 96, /* beside the text of the key */
    ITEM_BYTES = 48, /* a number, and its place */
    STRING_BYTES = 48,
};

static size_t tree_bytes_of(char character)
{
    switch (character) {
    case '{':
        return OBJECT_BYTES;
    case '[':
        return ARRAY_BYTES;
    case ':':
        return PAIR_BYTES;
    case ',':
        return ITEM_BYTES;
    default:
        return 0;
    }
}

void json_bounds_measure(const char *text, size_t bytes, struct json_bounds *bounds)
{
    bool in_string = false;
    size_t depth = 0;

    *bounds = (struct json_bounds){0};
    for (size_t i = 0; i < bytes; i++) {
        char character = text[i];
        if (in_string) {
            bounds->tree_bytes++;
            i += character == '\\' ? 1 : 0;
            in_string = character != '"';
            continue;
        }
        bounds->tree_bytes += tree_bytes_of(character);
        if (character == '"') {
            in_string = true;
            bounds->tree_bytes += STRING_BYTES;
        } else if (character == '{' || character == '[') {
            depth++;
            bounds->depth = depth > bounds->depth ? depth : bounds->depth;
        } else if (character == '}' || character == ']') {
            depth -= depth > 0 ? 1 : 0;
        }
    }
}
