/*
 * text_line.c - splits in place, so that no reader needs a copy of a file of /proc.
 *
 * A NUL inside a line (a hostile comm cannot hold one, a truncated capture may) ends that
 * line early; the rest of it is skipped, never read as another line.
 */
#include "facts/text_line.h"

#include <string.h>

char *text_line_next(char **cursor, char *end)
{
    char *line = *cursor;

    if (line == NULL || line >= end) {
        return NULL;
    }
    char *feed = memchr(line, '\n', (size_t)(end - line));
    if (feed == NULL) {
        *end = '\0';
        *cursor = end;
    } else {
        *feed = '\0';
        *cursor = feed + 1;
    }
    return line;
}
