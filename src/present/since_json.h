/* since_json.h - the object "since" of documents for machines; docs/json.md. */
#ifndef STRATA_PRESENT_SINCE_JSON_H
#define STRATA_PRESENT_SINCE_JSON_H

#include "base/json_writer.h"
#include "findings/since.h"

/* As a value: into an array, or behind a key. */
void since_json(struct json_writer *json, const struct since *since);

#endif
