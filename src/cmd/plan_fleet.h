/* plan_fleet.h - the figures of a pool that the exporter left in Prometheus. */
#ifndef STRATA_CMD_PLAN_FLEET_H
#define STRATA_CMD_PLAN_FLEET_H

#include "base/error.h"
#include "base/region.h"
#include "cmd/options.h"
#include "plan/fleet_plan.h"

/*
 * Asks options' Prometheus and fills fleet with the moments of its pool, or of the only one
 * there is. 0; -EEXIST several pools (error lists them); -ENODATA none; -EINVAL a bad
 * --days; or as prometheus_query().
 */
int plan_fleet_read(struct region *region, const struct options *options,
    struct fleet *fleet, struct error *error);

#endif
