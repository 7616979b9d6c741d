/* fact_line.h - "Key:   123 kB" lines of /proc into rows of facts.def. */
#ifndef STRATA_FACTS_FACT_LINE_H
#define STRATA_FACTS_FACT_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "facts_types/fact.h"

/*
 * If line starts with the key of a row of table (count rows, those of the given source
 * only) and a colon, stores its number in values at the index of that row and returns
 * true; kB become bytes. A key without a sensible number becomes FACT_MALFORMED, one past 64
 * bits too: a saturated number would be shown as true. Unknown keys return false.
 */
bool fact_line_store(const struct fact_info *table, size_t count, const char *source,
    const char *line, struct fact *values);

/*
 * Gives every row of that source which is still absent the state, for a file that could
 * not be read.
 */
void fact_line_mark(const struct fact_info *table, size_t count, const char *source,
    enum fact_state state, struct fact *values);

#endif
