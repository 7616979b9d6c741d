/* limits.h - /proc/PID/limits: the soft limits that size a server's tables and stacks. */
#ifndef STRATA_FACTS_LIMITS_H
#define STRATA_FACTS_LIMITS_H

#include <stddef.h>

#include "facts_types/fact_table.h"

/*
 * Parses the text (bytes long, with a NUL behind it; cut up in place) and fills the facts of
 * source "limits" in values, the table of a process. A limit of "unlimited" is absent: there
 * is none.
 */
void limits_parse(char *text, size_t bytes, struct fact values[PROCESS_FACT_COUNT]);

#endif
