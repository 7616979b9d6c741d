/* mapping_line.h - the header line of a mapping in maps and smaps. */
#ifndef STRATA_FACTS_MAPPING_LINE_H
#define STRATA_FACTS_MAPPING_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/mapping.h"

/* True for a line that starts a mapping, false for "Rss: ..." and the like. */
bool mapping_line_is_header(const char *line);

/*
 * Parses a header line into *mapping, all but its path: *path points to the path inside
 * line, which is unescaped in place and loses " (deleted)" (mapping->deleted then).
 * 0 or -EINVAL.
 */
int mapping_line_parse(char *line, struct mapping *mapping, char **path);

/* The bits of enum mapping_flag in the value of a VmFlags line ("rd wr mr nr sd"). */
uint32_t mapping_line_flags(const char *text);

#endif
