/* plan_json.h - `strata plan --json`; docs/json.md describes it. */
#ifndef STRATA_CMD_PLAN_JSON_H
#define STRATA_CMD_PLAN_JSON_H

#include "base/buffer.h"
#include "plan/plan.h"

/* Appends one document and a line end. Pure. */
void plan_json(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, struct buffer *buffer);

#endif
