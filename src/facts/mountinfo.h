/* mountinfo.h - mounts, and where the cgroup hierarchies that matter are mounted. */
#ifndef STRATA_FACTS_MOUNTINFO_H
#define STRATA_FACTS_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "base/slice.h"

enum { MOUNTINFO_MAX_MOUNTS = 256 };

/* One line of /proc/PID/mountinfo; root and point are still escaped. */
struct mountinfo_line {
    struct slice root;  /* what of the file system is mounted */
    struct slice point; /* where */
    struct slice type;
    struct slice options; /* of the file system, separated by commas */
};

/* Cuts lines off rest up to the next that is well formed. False when there is none. */
bool mountinfo_next(struct slice *rest, struct mountinfo_line *line);

/* Version 1 has a hierarchy for each controller, or for some of them together. */
enum cgroup_hierarchy {
    CGROUP_VERSION_1 = 1, /* the one with memory */
    CGROUP_VERSION_2 = 2,
    CGROUP_PROCESSORS = 3, /* the one of version 1 with processors */
};

/* One mount of a cgroup hierarchy; the same hierarchy may be mounted several times. */
struct cgroup_mount {
    uint32_t version; /* enum cgroup_hierarchy */
    char *root;       /* the cgroup that is visible at point: "/", or a container's own */
    char *point;      /* mount point, unescaped */
};

struct cgroup_mounts {
    struct cgroup_mount *items;
    size_t count;
};

/*
 * Collects the mounts of type cgroup2, and those of type cgroup with the memory or the cpu
 * controller (one with both is there as either), from the text of /proc/PID/mountinfo
 * (proc_pid_mountinfo(5)). Lines that do not fit are skipped; at most
 * MOUNTINFO_MAX_MOUNTS are kept. 0 or -ENOMEM.
 */
int mountinfo_parse(
    const char *text, struct region *region, struct cgroup_mounts *mounts);

/*
 * The folder of a cgroup: the mount point of the mount of that version whose root is
 * path or an ancestor of it, followed by the rest of path. The mount with the longest
 * root wins, of equals the last (it hides the others). 0, -ENOENT when no mount shows
 * the cgroup, or -ENOMEM.
 */
int mountinfo_folder(const struct cgroup_mounts *mounts, uint32_t version,
    const char *path, struct region *region, char **folder);

/*
 * Replaces the octal escapes (\040 ...) in text, in place. Anything else that follows a
 * backslash stays as it is.
 */
void mountinfo_unescape(char *text);

#endif
