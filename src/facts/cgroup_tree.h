/* cgroup_tree.h - which processes a cgroup holds, and which cgroups a name means. */
#ifndef STRATA_FACTS_CGROUP_TREE_H
#define STRATA_FACTS_CGROUP_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/cgroup_reader.h"
#include "facts_types/facts.h"

enum {
    CGROUP_MAX_MEMBERS = 100000, /* processes that are listed of one cgroup */
    CGROUP_MAX_FOLDERS = 20000,  /* folders that one walk looks at */
    CGROUP_MAX_DEPTH = 64,
    CGROUP_MAX_MATCHES = 64,
};

/* Ascending, each once. */
struct cgroup_members {
    int32_t *pids;
    size_t count;
    bool complete; /* false: a bound was met, or a folder could not be read */
};

/*
 * The processes of the cgroup at path and of all below it.
 * 0, -ENOENT (no such cgroup, or it is not visible here), -EACCES, or -ENOMEM.
 */
int cgroup_members(struct cgroup_reader *reader, const char *path, struct region *region,
    struct cgroup_members *members);

/* Paths as in /proc/PID/cgroup, in the order of the walk. */
struct cgroup_matches {
    char **paths;
    size_t count;
};

/*
 * The cgroups that target names: a path ("/system.slice/x.service"), the name of a unit
 * (".service" may be left out), or the first characters (at least 4) of a container's
 * id. At most CGROUP_MAX_MATCHES; a cgroup below another match is not listed. 0 with
 * count 0 when nothing matches; -ENOMEM.
 */
int cgroup_find(struct cgroup_reader *reader, const char *target, struct region *region,
    struct cgroup_matches *matches);

/*
 * Stores in facts->competitor_* the process with the highest oom_score below the cgroup
 * which has the least headroom (or, without a limit, below the target's own cgroup):
 * the kernel kills there first when the limit is met (mm/oom_kill.c, Linux 6.18). The
 * target itself takes part. Needs facts->target_cgroup >= 0. 0 or -ENOMEM.
 */
int cgroup_find_competitor(struct cgroup_reader *reader, struct facts *facts);

#endif
