/* fleet_plan.h - what a plan needs, out of figures of one pool on many hosts over days. */
#ifndef STRATA_PLAN_FLEET_PLAN_H
#define STRATA_PLAN_FLEET_PLAN_H

#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "plan/pool_plan.h"

/* One host at one moment, bytes of the whole pool. */
struct fleet_moment {
    uint64_t private_bytes; /* of all its processes */
    uint64_t unique_bytes;  /* frames, each once; 0: not known */
    uint64_t tables_bytes;  /* page tables */
    uint64_t workers;
    uint64_t real_bytes;  /* largest real of PHP's request heaps; 0: not known */
    uint64_t limit_bytes; /* memory_limit; 0: none, or not known */
};

/* All moments of one pool. */
struct fleet {
    const char *name;
    struct fleet_moment *moments;
    size_t count;
    size_t hosts;
    unsigned days;
};

/*
 * Fills input: one sample for each moment, the pool's private memory for each of its workers, so
 * that a moment when all were large counts as that (concurrency is the samples' 95th
 * percentile over their mean). The fixed part is the 95th percentile of what is shared. Pure. 0; -ENODATA without a moment; -ENOMEM.
 */
int fleet_plan_input(struct region *region, const struct fleet *fleet,
    const struct plan_wishes *wishes, struct plan_input *input);

#endif
