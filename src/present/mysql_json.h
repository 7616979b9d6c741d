/* mysql_json.h - "mysql": the servers of a target for machines; docs/json.md. */
#ifndef STRATA_PRESENT_MYSQL_JSON_H
#define STRATA_PRESENT_MYSQL_JSON_H

#include "base/json_writer.h"
#include "model/snapshot.h"

void mysql_json(struct json_writer *json, const struct snapshot *snapshot);

#endif
