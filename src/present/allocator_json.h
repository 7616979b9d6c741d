/* allocator_json.h - the allocators of a target, glibc's with every arena. */
#ifndef STRATA_PRESENT_ALLOCATOR_JSON_H
#define STRATA_PRESENT_ALLOCATOR_JSON_H

#include "base/json_writer.h"
#include "facts_types/facts.h"

/* "allocators": one entry for each kind that any member has. */
void allocator_json(struct json_writer *json, const struct facts *facts);

#endif
