/* strata_json.h - the figures of strata's malloc as JSON; docs/json.md. */
#ifndef STRATA_PRESENT_STRATA_JSON_H
#define STRATA_PRESENT_STRATA_JSON_H

#include "base/json_writer.h"
#include "facts_types/facts.h"

/* Into the open object of the allocator: sums over the members, then each member. */
void strata_json(struct json_writer *json, const struct facts *facts);

#endif
