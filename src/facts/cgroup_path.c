/*
 * cgroup_path.c - the path shapes of container runtimes, systemd and Kubernetes.
 *
 * A path is taken apart at '/', and each component is looked at by itself, from the
 * outermost inwards; what an inner component tells replaces what an outer one told, so that
 * a container inside a container is named, not its host. Shapes:
 *   /docker/<id>                                    docker with the cgroupfs driver
 *   /system.slice/docker-<id>.scope                 docker with the systemd driver
 *   /machine.slice/libpod-<id>.scope[/container]    podman; also below user@UID.service
 *   /kubepods/burstable/pod<uid>/<id>               Kubernetes, cgroupfs driver
 *   .../kubepods-burstable-pod<uid_>.slice/cri-containerd-<id>.scope    systemd driver
 *   .../kubepods-pod<uid_>.slice:cri-containerd:<id>    the two drivers mixed up
 *   /<namespace>/<id>                               containerd, nerdctl
 *   /ecs/<task>/<id>, /lxc.payload.<name>, /lxc/<name>, /machine.slice/machine-<name>.scope
 * Helpers beside a container (conmon, lxc.monitor) are not the container. The rules for units
 * follow cg_path_get_unit() and cg_path_get_user_unit() of systemd 252: the unit is the first
 * component behind the slices, and below user@UID.service the first behind the slices there.
 * Pure text, no file is opened.
 */
#include "facts/cgroup_path.h"

#include <errno.h>
#include <string.h>

#include "base/slice.h"

enum { ID_DIGITS = 64, TASK_DIGITS = 32, POD_UID_BYTES = 36, STATIC_POD_UID_BYTES = 32 };

/* What the components so far have told; slices of the path, empty when unknown. */
struct walk {
    struct slice parent; /* the component in front */
    size_t depth;
    bool in_kubepods;
    bool in_ecs;
    bool unit_open; /* the next component that is no slice decides on the unit */
    const char *runtime;
    struct slice container;
    struct slice unit;
    struct slice pod;
};

/* Program that names its cgroups "<prefix>-<id>". */
static const struct {
    const char *prefix;
    const char *runtime; /* NULL: a helper beside the container */
} id_prefixes[] = {
    {"docker", "docker"},
    {"cri-containerd", "containerd"},
    {"containerd", "containerd"},
    {"nerdctl", "containerd"},
    {"crio", "crio"},
    {"libpod", "podman"},
    {"libpod-payload", "podman"},
    {"libpod-conmon", NULL},
    {"crio-conmon", NULL},
};

/* Program that puts cgroups named by a bare id below this folder. */
static const struct {
    const char *folder;
    const char *runtime;
} id_folders[] = {
    {"docker", "docker"},
    {"default", "containerd"},
    {"k8s.io", "containerd"},
    {"moby", "containerd"},
    {"nerdctl", "containerd"},
    {"garden", "garden"},
};

static bool is_hex(char character)
{
    return (character >= '0' && character <= '9') ||
           (character >= 'a' && character <= 'f');
}

static size_t count_hex(struct slice slice)
{
    size_t count = 0;

    while (count < slice.bytes && is_hex(slice.text[count])) {
        count++;
    }
    return count;
}

static bool is_id(struct slice slice)
{
    return slice.bytes == ID_DIGITS && count_hex(slice) == ID_DIGITS;
}

/* "<32 hex digits>-<number>": a container of a task without an instance of its own. */
static bool is_task_container(struct slice slice)
{
    if (count_hex(slice) != TASK_DIGITS || slice.bytes < TASK_DIGITS + 2 ||
        slice.text[TASK_DIGITS] != '-') {
        return false;
    }
    for (size_t i = TASK_DIGITS + 1; i < slice.bytes; i++) {
        if (slice.text[i] < '0' || slice.text[i] > '9') {
            return false;
        }
    }
    return true;
}

/* 8-4-4-4-12 hex digits with dashes or underscores; static pods have 32 digits. */
static bool is_pod_uid(struct slice slice)
{
    static const size_t dashes[] = {8, 13, 18, 23};
    size_t next = 0;

    if (slice.bytes == STATIC_POD_UID_BYTES) {
        return count_hex(slice) == STATIC_POD_UID_BYTES;
    }
    if (slice.bytes != POD_UID_BYTES) {
        return false;
    }
    for (size_t i = 0; i < POD_UID_BYTES; i++) {
        char character = slice.text[i];
        bool dash = next < sizeof(dashes) / sizeof(dashes[0]) && dashes[next] == i;
        next += dash ? 1 : 0;
        if (dash ? character != '-' && character != '_' : !is_hex(character)) {
            return false;
        }
    }
    return true;
}

static void set_container(struct walk *walk, const char *runtime, struct slice container)
{
    if (container.bytes == 0) {
        return; /* "lxc.payload." and its like */
    }
    walk->runtime = runtime;
    walk->container = container;
    walk->unit_open = true; /* a service manager inside the container may follow */
}

static void clear_container(struct walk *walk)
{
    walk->runtime = NULL;
    walk->container = (struct slice){NULL, 0};
}

/* "pod<uid>" below kubepods, or "kubepods[-<class>]-pod<uid_>.slice". */
static void look_for_pod(struct walk *walk, struct slice component)
{
    struct slice uid = {NULL, 0};

    if (slice_starts_with(component, "kubepods") ||
        slice_starts_with(component, "kubelet-kubepods")) {
        struct slice base = slice_cut_suffix(component, ".slice");
        const char *mark = memmem(base.text, base.bytes, "-pod", strlen("-pod"));
        walk->in_kubepods = true;
        if (mark != NULL) {
            uid = slice_cut_front(base, (size_t)(mark - base.text) + strlen("-pod"));
        }
    } else if (walk->in_kubepods && slice_starts_with(component, "pod")) {
        uid = slice_cut_front(component, strlen("pod"));
    }
    if (is_pod_uid(uid)) {
        walk->pod = uid;
    }
}

/* "<prefix>-<id>", with or without ".scope". */
static bool look_for_prefixed_id(struct walk *walk, struct slice component)
{
    struct slice base = slice_cut_suffix(component, ".scope");

    if (base.bytes < ID_DIGITS + 2) {
        return false;
    }
    struct slice id = slice_cut_front(base, base.bytes - ID_DIGITS);
    struct slice prefix = {base.text, base.bytes - ID_DIGITS - 1};
    if (!is_id(id) || id.text[-1] != '-') {
        return false;
    }
    for (size_t i = 0; i < sizeof(id_prefixes) / sizeof(id_prefixes[0]); i++) {
        if (slice_is(prefix, id_prefixes[i].prefix)) {
            if (id_prefixes[i].runtime == NULL) {
                clear_container(walk);
            } else {
                set_container(walk, id_prefixes[i].runtime, id);
            }
            return true;
        }
    }
    set_container(walk, "container", id);
    return true;
}

static bool look_for_bare_id(struct walk *walk, struct slice component)
{
    const char *runtime = walk->in_kubepods ? "kubernetes" : "container";

    if (walk->in_ecs && (is_id(component) || is_task_container(component))) {
        set_container(walk, "ecs", component);
        return true;
    }
    if (!is_id(component)) {
        return false;
    }
    for (size_t i = 0; i < sizeof(id_folders) / sizeof(id_folders[0]); i++) {
        if (slice_is(walk->parent, id_folders[i].folder)) {
            runtime = id_folders[i].runtime;
        }
    }
    set_container(walk, runtime, component);
    return true;
}

/* Containers that are known by a name and not by an id. */
static void look_for_name(struct walk *walk, struct slice component)
{
    static const char payload[] = "lxc.payload.";
    static const char nspawn[] = "systemd-nspawn@";
    static const char machine[] = "machine-";
    struct slice scope = slice_cut_suffix(component, ".scope");

    if (slice_starts_with(component, "lxc.monitor")) {
        clear_container(walk);
    } else if (slice_starts_with(component, payload)) {
        set_container(walk, "lxc", slice_cut_front(component, strlen(payload)));
    } else if (slice_is(walk->parent, "lxc.payload") ||
               (walk->depth == 1 && slice_is(walk->parent, "lxc"))) {
        set_container(walk, "lxc", component);
    } else if (slice_starts_with(component, nspawn)) {
        set_container(walk, "nspawn",
            slice_cut_suffix(slice_cut_front(component, strlen(nspawn)), ".service"));
    } else if (slice_starts_with(component, machine) &&
               slice_ends_with(component, ".scope")) {
        bool virtual_machine = slice_starts_with(component, "machine-qemu");
        set_container(walk, virtual_machine ? "libvirt" : "nspawn",
            slice_cut_front(scope, strlen(machine)));
    } else if (walk->depth == 1 &&
               (slice_is(walk->parent, "default") || slice_is(walk->parent, "k8s.io"))) {
        set_container(walk, "containerd", component);
    }
}

/* "<pod slice>:<program>:<id>", when the kubelet and the runtime disagree on the driver. */
static bool look_for_colons(struct walk *walk, struct slice component)
{
    const char *first = memchr(component.text, ':', component.bytes);
    const char *last = memrchr(component.text, ':', component.bytes);

    if (first == NULL || first == last) {
        return false;
    }
    struct slice id = slice_cut_front(component, (size_t)(last + 1 - component.text));
    struct slice program = {first + 1, (size_t)(last - first - 1)};
    if (!is_id(id)) {
        return false;
    }
    look_for_pod(walk, (struct slice){component.text, (size_t)(first - component.text)});
    for (size_t i = 0; i < sizeof(id_prefixes) / sizeof(id_prefixes[0]); i++) {
        if (id_prefixes[i].runtime != NULL && slice_is(program, id_prefixes[i].prefix)) {
            set_container(walk, id_prefixes[i].runtime, id);
            return true;
        }
    }
    set_container(walk, "container", id);
    return true;
}

static bool is_unit(struct slice component)
{
    static const char *const suffixes[] = {
        ".service", ".scope", ".socket", ".mount", ".swap"};

    for (size_t i = 0; i < sizeof(suffixes) / sizeof(suffixes[0]); i++) {
        if (component.bytes > strlen(suffixes[i]) &&
            slice_ends_with(component, suffixes[i])) {
            return true;
        }
    }
    return false;
}

static void look_for_unit(struct walk *walk, struct slice component)
{
    if (!walk->unit_open || slice_ends_with(component, ".slice")) {
        return;
    }
    walk->unit_open = false;
    /* systemd puts '_' in front of a name which a file of the kernel could have. */
    if (slice_starts_with(component, "_")) {
        component = slice_cut_front(component, 1);
    }
    if (is_unit(component)) {
        walk->unit = component;
        walk->unit_open = slice_starts_with(component, "user@");
    }
}

static void look_at(struct walk *walk, struct slice component)
{
    look_for_unit(walk, component);
    if (!look_for_colons(walk, component) && !look_for_prefixed_id(walk, component) &&
        !look_for_bare_id(walk, component)) {
        look_for_pod(walk, component);
        look_for_name(walk, component);
    }
    walk->in_ecs = walk->in_ecs || (walk->depth == 0 && slice_is(component, "ecs"));
    walk->parent = component;
    walk->depth++;
}

/* Copies slice unless it is empty. False: memory is short. */
static bool copy(struct region *region, struct slice slice, char **text)
{
    *text = slice.bytes == 0 ? NULL : region_copy(region, slice.text, slice.bytes);
    return slice.bytes == 0 || *text != NULL;
}

static void underscores_to_dashes(char *text)
{
    for (; text != NULL && *text != '\0'; text++) {
        *text = *text == '_' ? '-' : *text;
    }
}

int cgroup_path_identify(
    const char *path, struct region *region, struct cgroup_identity *identity)
{
    struct walk walk = {.unit_open = true};
    struct slice rest = {path, strlen(path)};
    struct slice component;
    struct slice runtime;

    *identity = (struct cgroup_identity){0};
    while (slice_next(&rest, '/', &component)) {
        if (component.bytes > 0) {
            look_at(&walk, component);
        }
    }
    /* Of a slice itself, the slice is the unit. */
    if (walk.unit.bytes == 0 && slice_ends_with(walk.parent, ".slice")) {
        walk.unit = walk.parent;
    }
    runtime =
        (struct slice){walk.runtime, walk.runtime == NULL ? 0 : strlen(walk.runtime)};
    if (!copy(region, runtime, &identity->runtime) ||
        !copy(region, walk.container, &identity->container_id) ||
        !copy(region, walk.unit, &identity->unit) ||
        !copy(region, walk.pod, &identity->pod_uid)) {
        return -ENOMEM;
    }
    underscores_to_dashes(identity->pod_uid);
    return 0;
}

bool cgroup_path_to_parent(char *path)
{
    char *slash = strrchr(path, '/');

    if (slash == NULL || strcmp(path, "/") == 0 || strcmp(slash, "/..") == 0) {
        return false;
    }
    slash[slash == path ? 1 : 0] = '\0';
    return true;
}
