/* plan_config.h - a plan as lines to paste into the server's configuration. */
#ifndef STRATA_PLAN_PLAN_CONFIG_H
#define STRATA_PLAN_PLAN_CONFIG_H

#include "base/buffer.h"
#include "plan/plan.h"

/*
 * Appends the settings for input->server with the workers of case planned: FPM's pm lines,
 * Swoole's worker_num, RoadRunner's .rr.yaml with max_worker_memory, gunicorn's options, or
 * a bare number; then the allocator's environment when it would change something. Comments
 * say why. Pure.
 */
void plan_config(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, struct buffer *buffer);

/* RoadRunner's bound in MiB, compared there with a worker's RSS, shared pages included. */
uint64_t plan_worker_memory_mib(const struct plan_input *input, const struct plan *plan);

#endif
