/*
 * container_mounts.c - identity of a container from within.
 *
 * In a cgroup namespace of its own every path is "/". But runtimes mount files of their own
 * state folder over /etc/hostname and its like, and mountinfo shows where those come from:
 *   docker      .../docker/containers/<id>/hostname
 *   podman      .../overlay-containers/<id>/userdata/hostname
 *   Kubernetes  .../pods/<uid>/etc-hosts
 * The kubelet's files tell the pod only; what the runtime mounts beside them belongs to the
 * pod's sandbox, whose id is not the container's, so it is not taken.
 */
#include "facts/container_mounts.h"

#include <errno.h>
#include <string.h>

#include "facts/mountinfo.h"

enum { ID_DIGITS = 64, POD_UID_BYTES = 36 };

static bool is_runtime_file(struct slice point)
{
    static const char *const points[] = {
        "/etc/hostname", "/etc/hosts", "/etc/resolv.conf", "/dev/termination-log"};

    for (size_t i = 0; i < sizeof(points) / sizeof(points[0]); i++) {
        if (slice_is(point, points[i])) {
            return true;
        }
    }
    return false;
}

/* The component of that length behind mark in path; empty when there is none. */
static struct slice component_behind(struct slice path, const char *mark, size_t bytes)
{
    const char *at = memmem(path.text, path.bytes, mark, strlen(mark));
    struct slice component = {NULL, 0};

    if (at != NULL) {
        struct slice rest =
            slice_cut_front(path, (size_t)(at - path.text) + strlen(mark));
        (void)slice_next(&rest, '/', &component);
    }
    return component.bytes == bytes ? component : (struct slice){NULL, 0};
}

static int keep(struct region *region, struct slice slice, char **place)
{
    if (slice.bytes == 0 || *place != NULL) {
        return 0;
    }
    *place = region_copy(region, slice.text, slice.bytes);
    return *place == NULL ? -ENOMEM : 0;
}

struct found {
    const char *runtime;
    struct slice container;
    struct slice pod;
};

static void look_at(struct found *found, struct slice root)
{
    struct slice pod = component_behind(root, "/pods/", POD_UID_BYTES);
    struct slice podman = component_behind(root, "/overlay-containers/", ID_DIGITS);
    struct slice docker = component_behind(root, "/containers/", ID_DIGITS);

    if (pod.bytes > 0) {
        found->pod = pod;
    } else if (podman.bytes > 0) {
        found->container = podman;
        found->runtime = "podman";
    } else if (docker.bytes > 0) {
        found->container = docker;
        found->runtime = "docker";
    }
}

int container_mounts_identify(
    const char *mountinfo, struct region *region, struct cgroup_identity *identity)
{
    struct slice rest = {mountinfo, strlen(mountinfo)};
    struct found found = {0};
    struct mountinfo_line line;

    while (mountinfo_next(&rest, &line)) {
        if (is_runtime_file(line.point)) {
            look_at(&found, line.root);
        }
    }
    if (found.pod.bytes > 0) {
        found.runtime = "kubernetes";
        found.container.bytes = 0;
    }
    struct slice runtime = {
        found.runtime, found.runtime == NULL ? 0 : strlen(found.runtime)};
    int rc = keep(region, runtime, &identity->runtime);
    if (rc == 0) {
        rc = keep(region, found.container, &identity->container_id);
    }
    return rc == 0 ? keep(region, found.pod, &identity->pod_uid) : rc;
}
