/* container.h - what the cgroup is billed, as each tool would print it. */
#ifndef STRATA_MODEL_CONTAINER_H
#define STRATA_MODEL_CONTAINER_H

#include "base/region.h"
#include "model/snapshot.h"

/*
 * The figures of one cgroup side by side:
 *   docker           usage - inactive_file, if that is smaller than usage, else usage. On
 *                    version 1 total_inactive_file is tried first; when it is not smaller
 *                    than usage docker falls through to the cgroup's own inactive_file
 *                    (docker/cli, calculateMemUsageUnixNoCache, 20.10 to 28)
 *   docker_19        usage - cache, up to 19.03; there was no support for version 2
 *   kubelet          usage - inactive_file with children, at least 0 (cAdvisor)
 *   podman           usage
 *   non_reclaimable  usage - file + shmem + file_dirty + file_writeback
 *                    - slab_reclaimable, at least 0: an estimate
 *   headroom         limit - usage of the cgroup or of the ancestor where it is least,
 *                    at least 0
 * A key that the kernel does not have counts as 0, as those tools do; one which could not
 * be read makes the figure missing with the same state.
 */
struct container_view container_view_of(const struct cgroup_facts *facts);

/*
 * LAYER_CHARGED: usage divided by the classes of memory.stat; the remainder is a part of
 * its own. memory.stat lags behind usage by up to 64 pages for each CPU (mm/memcontrol.c,
 * MEMCG_CHARGE_BATCH), so the classes may exceed usage: then the largest is cut and the
 * excess is plus_minus. facts NULL: missing, with the reason. 0 or -ENOMEM.
 */
int container_charged_layer(
    struct region *region, const struct cgroup_facts *facts, struct layer *layer);

#endif
