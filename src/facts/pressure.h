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

/*
 * The same line's average over a minute as microseconds of it: avg60=50.00 is 30 seconds.
 * It is exponential, so what lies longer back counts a little; 6 ms are its last digit.
 */
struct fact pressure_minute(const char *text, const char *kind);

/* One of the two, as facts.def writes it: "some", "full", "some avg60" or "full avg60". */
struct fact pressure_of_key(const char *text, const char *key);

#endif
