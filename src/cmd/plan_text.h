/* plan_text.h - a plan for people. */
#ifndef STRATA_CMD_PLAN_TEXT_H
#define STRATA_CMD_PLAN_TEXT_H

#include "base/buffer.h"
#include "plan/plan.h"
#include "present/style.h"

/*
 * Appends the budget, the worker, the three cases, memory_limit, the configuration for case
 * planned, and what would buy more. Pure.
 */
void plan_text(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, const struct present_style *style, struct buffer *buffer);

#endif
