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
 * Finds what text names, in this order: a pid; "pool:NAME"; a path of a cgroup or of a
 * program; a unit with its suffix; a program by its exact name; a unit without suffix; the
 * first 6 or more digits of a container's id. Several processes of one name are a pool when
 * they belong to one service: the same program, and one is the ancestor of the others or
 * all are in the same unit or container. 0; -ENOENT: nothing matches (error lists similar
 * names), or only what has no memory of its own; -EEXIST: several that do not belong
 * together (error lists them); -ENOMEM; or -errno of reading /proc.
 */
int target_find(struct facts_root *root, struct cgroup_reader *cgroups, const char *text,
    struct region *region, struct target *target, struct error *error);

#endif
