/* cgroup_facts.h - what was read of one memory cgroup. */
#ifndef STRATA_FACTS_TYPES_CGROUP_FACTS_H
#define STRATA_FACTS_TYPES_CGROUP_FACTS_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/fact_table.h"

struct cgroup_facts {
    uint32_t version; /* 1 or 2: of the hierarchy that has the memory controller */
    bool hybrid;      /* version 1 memory beside a version 2 hierarchy */
    bool root;        /* of the hierarchy: has no usage and no limit of its own in v2 */
    bool deleted;
    bool
        namespaced; /* we see it from inside a cgroup namespace: "/" may be a container */
    char *path;     /* as in /proc/PID/cgroup, without " (deleted)"; never NULL */
    /*
     * The cgroup whose files were read: path, or its nearest ancestor which has the memory
     * controller and so is billed instead. NULL when no file could be read.
     */
    char *charged_path;
    /*
     * Which of it and its ancestors have limit_effective and headroom; NULL when there is no
     * limit, or an ancestor has it that is not visible here (version 1 tells its limit).
     */
    char *limit_path;
    char *headroom_path;
    char *runtime; /* docker, podman, containerd, crio, lxc, ...; NULL: no container */
    char *container_id;
    char *unit;     /* systemd unit, NULL when none */
    char *pod_uid;  /* Kubernetes */
    uint32_t state; /* enum fact_state */
    char *why;
    struct fact values[CGROUP_FACT_COUNT];
};

#endif
