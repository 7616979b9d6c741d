/* target.h - which processes the user means. */
#ifndef STRATA_FACTS_TARGET_H
#define STRATA_FACTS_TARGET_H

#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/region.h"
#include "facts/root.h"
#include "facts_types/facts.h"

struct cgroup_reader;

struct target {
    uint32_t kind; /* enum target_kind */
    char *name;    /* for people: the program, pool, unit, or what was asked for */
    int32_t *pids; /* parents before children */
    size_t count;
    char *cgroup; /* path, when the target is a cgroup or unit; else NULL */
};

/*
 * Finds what text names, in this order: a pid (a thread's stands for its process);
 * "pool:NAME" of PHP-FPM, with its master; a program by its exact name or path; a unit,
 * a container's id or a path of a cgroup, as cgroup_find() understands them (not tried
 * when cgroups is NULL). Several processes of one name are a pool when they belong together,
 * see target_group.h. 0; -ENOENT: nothing matches (error lists similar names), or only what
 * has no memory of its own; -EEXIST: several that do not belong together (error lists
 * them); -ENOMEM; or -errno of reading /proc.
 */
int target_find(struct facts_root *root, struct cgroup_reader *cgroups, const char *text,
    struct region *region, struct target *target, struct error *error);

#endif
