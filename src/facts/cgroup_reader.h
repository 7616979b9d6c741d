/* cgroup_reader.h - what is the same for all cgroups of a machine, and their folders. */
#ifndef STRATA_FACTS_CGROUP_READER_H
#define STRATA_FACTS_CGROUP_READER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "base/region.h"
#include "facts/mountinfo.h"
#include "facts/root.h"

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
 * Opens the folder of the cgroup at path, in the hierarchy that bills memory, as a
 * descriptor for openat(); the caller closes it. -ENOENT when there is no such cgroup or
 * no mount shows it, -ENOMEM, or -errno of open.
 */
int cgroup_open(const struct cgroup_reader *reader, const char *path);

/* The same in that hierarchy (enum cgroup_hierarchy), which need not bill memory. */
int cgroup_open_version(
    const struct cgroup_reader *reader, uint32_t version, const char *path);

#endif
