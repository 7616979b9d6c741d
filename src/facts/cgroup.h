/* cgroup.h - finds the memory cgroup of a process and reads what it is charged for. */
#ifndef STRATA_FACTS_CGROUP_H
#define STRATA_FACTS_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "facts/mountinfo.h"
#include "facts/root.h"
#include "facts_types/facts.h"

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

/*
 * Opens the folder of the cgroup at path, in the hierarchy that bills memory, as a
 * descriptor for openat(); the caller closes it. -ENOENT when there is no such cgroup or
 * no mount shows it, -ENOMEM, or -errno of open.
 */
int cgroup_open(struct cgroup_reader *reader, const char *path);

#endif
