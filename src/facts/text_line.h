/* text_line.h - lines of a text in memory, one after the other. */
#ifndef STRATA_FACTS_TEXT_LINE_H
#define STRATA_FACTS_TEXT_LINE_H

#include <stddef.h>

/*
 * Cuts the next line off the text [*cursor, end): its line feed becomes NUL, *cursor moves
 * behind it and the line is returned; NULL when nothing is left. *end must be writable
 * (buffer_text() keeps a NUL there), since the last line may lack its line feed.
 */
char *text_line_next(char **cursor, char *end);

#endif
