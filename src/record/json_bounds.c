/*
 * json_bounds.c - counts brackets and separators in one pass.
 *
 * A parser that builds a tree turns three bytes of hostile text into hundreds of bytes of
 * memory, and recurses where the text nests. Both are bounded here first. The counts
 * are right for well-formed text; of anything else the parser will refuse the rest.
 */
#include "record/json_bounds.h"

#include <stdbool.h>

void json_bounds_measure(const char *text, size_t bytes, struct json_bounds *bounds)
{
    bool in_string = false;
    size_t depth = 0;

    *bounds = (struct json_bounds){0};
    for (size_t i = 0; i < bytes; i++) {
        char character = text[i];
        if (in_string && character == '\\') {
            i++;
        } else if (character == '"') {
            in_string = !in_string;
        } else if (!in_string && (character == '{' || character == '[')) {
            bounds->values++;
            depth++;
            bounds->depth = depth > bounds->depth ? depth : bounds->depth;
        } else if (!in_string && (character == '}' || character == ']')) {
            depth -= depth > 0 ? 1 : 0;
        } else if (!in_string && (character == ',' || character == ':')) {
            bounds->values++;
        }
    }
}
