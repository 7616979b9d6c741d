/* cgroup_limits.h - which limit of a cgroup or its ancestors is met first. */
#ifndef STRATA_FACTS_CGROUP_LIMITS_H
#define STRATA_FACTS_CGROUP_LIMITS_H

#include "base/region.h"
#include "facts/cgroup_reader.h"
#include "facts_types/cgroup_facts.h"

/*
 * Climbs from cgroup->charged_path, whose folder is open as charged_fd, to the outermost
 * visible ancestor and fills limit_effective, headroom, limit_path and headroom_path; texts
 * come from region. 0 or -ENOMEM.
 */
int cgroup_limits_find(struct cgroup_reader *reader, int charged_fd,
    struct region *region, struct cgroup_facts *cgroup);

/*
 * Climbs from path in the hierarchy that has the processors, which is CGROUP_VERSION_2 or
 * CGROUP_PROCESSORS, and fills cpu_quota. region holds a copy of the path. 0 or -ENOMEM.
 */
int cgroup_quota_find(struct cgroup_reader *reader, enum cgroup_hierarchy hierarchy,
    const char *path, struct region *region, struct cgroup_facts *cgroup);

#endif
