/* fixture_captures.h - the captures of tests/fixtures/cases, each given to a test. */
#ifndef STRATA_TESTS_UNIT_PRESENT_FIXTURE_CAPTURES_H
#define STRATA_TESTS_UNIT_PRESENT_FIXTURE_CAPTURES_H

#include <stddef.h>

#include "facts_types/facts.h"

/* Calls look for each, which does not release them; fails the test when there are few. */
void each_fixture_capture(
    void (*look)(const char *name, const struct facts *facts, void *context),
    void *context);

#endif
