/* container_mounts.h - which container a process is in, by the files mounted over its /etc. */
#ifndef STRATA_FACTS_CONTAINER_MOUNTS_H
#define STRATA_FACTS_CONTAINER_MOUNTS_H

#include "base/region.h"
#include "facts/cgroup_path.h"

/*
 * Fills runtime, container_id and pod_uid of identity from the text of the process's
 * mountinfo, as far as it tells; what it does not tell stays as it is. 0 or -ENOMEM.
 */
int container_mounts_identify(
    const char *mountinfo, struct region *region, struct cgroup_identity *identity);

#endif
