/* facts_random.h - facts out of arbitrary bytes: for property tests and fuzzing. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_FACTS_RANDOM_H
#define STRATA_TESTS_UNIT_SUPPORT_FACTS_RANDOM_H

#include <stddef.h>
#include <stdint.h>

#include "facts_types/facts.h"

/*
 * Fills facts from bytes: the same bytes, the same facts. Mappings and spans are mostly in
 * order, as readers deliver them, and sometimes not; numbers are mostly small and
 * sometimes as large as they can be. Stops early when memory is short.
 */
void facts_random(struct facts *facts, const uint8_t *bytes, size_t count);

#endif
