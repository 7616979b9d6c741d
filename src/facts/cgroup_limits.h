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
 * Climbs from cgroup->path in the same way and fills cpu_quota; version 2 only, since in version 1
 * processors have a hierarchy of their own. 0 or -ENOMEM.
 */
int cgroup_quota_find(
    struct cgroup_reader *reader, struct region *region, struct cgroup_facts *cgroup);

#endif
