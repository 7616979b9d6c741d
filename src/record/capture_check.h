/* capture_check.h - what every consumer of facts may rely on. */
#ifndef STRATA_RECORD_CAPTURE_CHECK_H
#define STRATA_RECORD_CAPTURE_CHECK_H

#include "base/error.h"
#include "facts_types/facts.h"

/*
 * Checks that texts which facts.h calls never NULL are there, enums, states and indexes
 * are in their range, numbers of items are within facts.h, mappings and spans are not
 * empty, sorted and apart, the page size is a power of two (0: not known), and a gap is
 * a gap. 0, or -EINVAL with error (may be NULL) naming the field.
 */
int capture_check(const struct facts *facts, struct error *error);

#endif
