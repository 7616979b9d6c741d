/* host_group.h - the processes of a host, put together as services. */
#ifndef STRATA_MODEL_HOST_GROUP_H
#define STRATA_MODEL_HOST_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/region.h"
#include "facts_types/facts.h"

/*
 * Splits the facts of a host into facts of one process or pool each, by the rule of
 * `strata explain NAME`: processes of one name belong together when one is the ancestor of
 * the others, or all are in the same service or container; workers of a php-fpm pool are
 * "pool:NAME". Every process is in exactly one group. The groups are taken from region,
 * share everything else with host (which must live longer), carry no gaps and need no
 * release. Pure. 0 or -ENOMEM.
 */
int host_groups_build(const struct facts *host, struct region *region,
    struct facts **groups, size_t *count);

/* The name of the php-fpm pool that process works for, from its title; NULL: none. */
const char *process_pool_name(const struct process_facts *process);

/* By its title it starts the workers of php-fpm, and is none. */
bool process_is_pool_master(const struct process_facts *process);

/* True when a unit of kind service or a container bills it: what is in there belongs together. */
bool cgroup_is_service(const struct cgroup_facts *cgroup);

#endif
