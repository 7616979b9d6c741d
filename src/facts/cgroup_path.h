/* cgroup_path.h - what the path of a cgroup tells: container, systemd unit, pod. */
#ifndef STRATA_FACTS_CGROUP_PATH_H
#define STRATA_FACTS_CGROUP_PATH_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"

/* Every text is NULL when the path does not tell. */
struct cgroup_identity {
    char *runtime; /* docker, podman, containerd, crio, lxc, nspawn, ...; "kubernetes" and
                      "container" when the shape is clear and the program is not */
    char *container_id; /* the innermost container's id or name */
    char *unit;         /* systemd unit; of a user's own manager, the user's unit */
    char *pod_uid;      /* Kubernetes, with dashes */
};

/* Reads the identity off a path such as "/system.slice/nginx.service". 0 or -ENOMEM. */
int cgroup_path_identify(
    const char *path, struct region *region, struct cgroup_identity *identity);

/*
 * Replaces path by its parent, in place: "/a/b" by "/a", "/a" by "/". False when path
 * has no parent that can be named: "/" and paths which begin with "/..".
 */
bool cgroup_path_to_parent(char *path);

#endif
