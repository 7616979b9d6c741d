/* cgroup_lines.h - in which cgroup of each hierarchy a process is. */
#ifndef STRATA_FACTS_CGROUP_LINES_H
#define STRATA_FACTS_CGROUP_LINES_H

#include "base/region.h"

/* The lines of /proc/PID/cgroup that matter; a path is NULL when its line is missing. */
struct cgroup_lines {
    char *memory;     /* version 1, the hierarchy with the memory controller */
    char *processors; /* version 1, the one with the cpu controller, perhaps the same */
    char *systemd;    /* version 1, name=systemd */
    char *unified;    /* version 2 */
};

/*
 * Picks the lines out of the text of /proc/PID/cgroup (cgroups(7)). Paths may hold ':'.
 * Lines that do not fit are skipped. 0 or -ENOMEM.
 */
int cgroup_lines_parse(
    const char *text, struct region *region, struct cgroup_lines *lines);

#endif
