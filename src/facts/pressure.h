/* pressure.h - pressure stall information: how long tasks waited. */
#ifndef STRATA_FACTS_PRESSURE_H
#define STRATA_FACTS_PRESSURE_H

#include "facts_types/fact.h"

/*
 * The total of the line that begins with kind ("some" or "full"), in microseconds, out of
 * the text of /proc/pressure/memory or memory.pressure (Documentation/accounting/psi.rst).
 * Absent when there is no such line, malformed when it has no total.
 */
struct fact pressure_total(const char *text, const char *kind);

#endif
