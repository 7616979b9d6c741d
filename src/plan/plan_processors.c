/*
 * plan_processors.c - memory bounds how many workers run, processors how many are of use.
 *
 * Of n workers that compute for a share b of their time n b compute at once. What b is nobody
 * tells, so the bound is a generous one. A worker of nginx waits for all of its clients at once
 * (worker_processes auto is one for each processor, ngx_core_module).
 */
#include "plan/plan_processors.h"

#include <math.h>

#include "base/number.h"

static uint64_t most_of_use(const struct plan_input *input)
{
    const double each = input->server == PLAN_NGINX ? 1 : PLAN_WORKERS_PER_PROCESSOR;
    const double most = ceil(input->processors) * each;
    const uint64_t now =
        input->workers_allowed != 0 ? input->workers_allowed : input->workers_now;

    const uint64_t whole =
        most < (double)PLAN_MAX_WORKERS ? (uint64_t)most : PLAN_MAX_WORKERS;

    return whole > now ? whole : now;
}

uint64_t plan_workers_to_set(
    const struct plan_input *input, const struct plan *plan, enum plan_case_id planned)
{
    const uint64_t fit = plan->cases[planned].workers;

    return input->processors > 0 ? number_smaller(fit, most_of_use(input)) : fit;
}
