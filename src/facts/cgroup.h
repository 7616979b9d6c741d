/* cgroup.h - finds the memory cgroup of a process and reads what it is charged for. */
#ifndef STRATA_FACTS_CGROUP_H
#define STRATA_FACTS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "facts/cgroup_path.h"
#include "facts/mountinfo.h"
#include "facts/root.h"
#include "facts_types/facts.h"

enum {
    CGROUP_MAX_MEMBERS = 100000, /* processes that are listed of one cgroup */
    CGROUP_MAX_FOLDERS = 20000,  /* folders that one walk looks at */
    CGROUP_MAX_DEPTH = 64,
    CGROUP_MAX_MATCHES = 64,
};

/* What is the same for all cgroups of one root; read once. */
struct cgroup_reader {
    struct facts_root *root;
    struct cgroup_mounts mounts;
    bool namespaced;       /* the reader itself is in a cgroup namespace */
    uint32_t version;      /* of the hierarchy that bills memory; 0: none is mounted */
    struct buffer scratch; /* text of the file that is being read */
};

/*
 * Reads the mounts and the namespace. region must live as long as the reader. A host
 * without cgroups is not an error: version is 0 then. 0 or -ENOMEM; either way
 * cgroup_reader_release() is right.
 */
int cgroup_reader_init(
    struct cgroup_reader *reader, struct facts_root *root, struct region *region);
void cgroup_reader_release(struct cgroup_reader *reader);

/*
 * Reads the cgroup of the process whose /proc folder is open as process_fd, unless
 * facts->cgroups has it already, and stores its place there. What is missing is said in
 * that cgroup's state and why. *index is -1 when the process's cgroup file could not be
 * read. 0, -ENOMEM, or -errno of that file (-ESRCH: the process ended).
 */
int cgroup_read_process(
    struct cgroup_reader *reader, int process_fd, struct facts *facts, int32_t *index);

/* The same for a path as in /proc/PID/cgroup. 0, -ENOMEM, or -EINVAL: no such path. */
int cgroup_read_path(
    struct cgroup_reader *reader, const char *path, struct facts *facts, int32_t *index);

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
