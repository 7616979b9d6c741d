/* explain_json.h - `strata explain --json`: the contract of docs/json.md, schema 1. */
#ifndef STRATA_PRESENT_EXPLAIN_JSON_H
#define STRATA_PRESENT_EXPLAIN_JSON_H

#include "base/buffer.h"
#include "findings/finding.h"
#include "findings/since.h"
#include "model/snapshot.h"

/*
 * Appends one JSON document and a line end. Nothing is folded. since is an earlier look to
 * compare with, or NULL. Pure; memory that ran short shows in buffer_error().
 */
void present_explain_json(const struct snapshot *snapshot,
    const struct finding_list *list, const struct since *since, struct buffer *buffer);

#endif
