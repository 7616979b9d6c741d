/* pool_plan.h - what a plan needs, out of one look at a live pool. */
#ifndef STRATA_PLAN_POOL_PLAN_H
#define STRATA_PLAN_POOL_PLAN_H

#include "base/region.h"
#include "model/snapshot.h"
#include "plan/plan.h"

/* What the user knows better than a look at the pool; 0 or NULL: not given. */
struct plan_wishes {
    uint64_t limit_bytes;
    uint64_t memory_limit_bytes;
    uint64_t others_bytes;
    unsigned reserve_percent; /* always used; the default is PLAN_RESERVE_PERCENT */
    bool others_given;
};

enum { PLAN_RESERVE_PERCENT = 10 };

/*
 * Fills input from snapshot. Workers are the largest set of members with the same parent
 * and without children among the members; the rest counts as there once. Strings and samples
 * come from region. 0; -ENODATA when no member's private memory is known; -ENOMEM.
 */
int pool_plan_input(struct region *region, const struct snapshot *snapshot,
    const struct plan_wishes *wishes, struct plan_input *input);

/*
 * A single process of no server that has pools: whatever it is made of, "how many of it fit" is
 * not the question. NULL when there is a pool, else that process. Pure.
 */
const struct process_facts *pool_plan_single(const struct snapshot *snapshot);

/* Appends the reserve, a share of input->limit_bytes, to the fixed part. */
void plan_add_reserve(struct plan_input *input, unsigned percent);

/* Appends one fixed amount, unless it is 0; beyond PLAN_MAX_FIXED it joins the last. */
void plan_add_fixed(
    struct plan_input *input, const char *id, const char *title, uint64_t bytes);

#endif
