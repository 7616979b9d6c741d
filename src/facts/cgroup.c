/*
 * cgroup.c - from a process to the cgroup that is billed for it.
 *
 * /proc/PID/cgroup names the cgroup of each hierarchy; the one with the memory controller
 * counts, version 1 before version 2 (a controller belongs to one hierarchy only). In version 2 a cgroup may lack the controller, when
 * its parent did not pass it on: then the nearest ancestor that has it is billed. The root
 * of version 2 has statistics but no usage and no limit.
 *
 * Paths come from the kernel or the user; one with ".." is only ever compared, never opened.
 */
#include "facts/cgroup.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"
#include "facts/cgroup_limits.h"
#include "facts/cgroup_lines.h"
#include "facts/cgroup_path.h"
#include "facts/cgroup_values.h"
#include "facts/container_mounts.h"
#include "facts/pressure.h"

enum {
    MOUNTINFO_MAX_BYTES = 16 << 20,
    CGROUP_FILE_MAX_BYTES = 1 << 20,
    PRESSURE_MAX_BYTES = 4096,
    LINES_REGION_BYTES = 8 << 20,
};

static const char deleted_suffix[] = " (deleted)";

/* State and reason when the cgroup itself could not be opened. */
static int explain_failure(
    struct region *region, struct cgroup_facts *cgroup, int failure, bool mounted)
{
    const char *why = NULL;

    if (failure == -ENOMEM) {
        return failure;
    }
    cgroup->state = facts_state_of(failure);
    if (cgroup->deleted) {
        cgroup->state = FACT_GONE;
        why = "the cgroup was removed while the process was still in it";
    } else if (!mounted) {
        why =
            "no cgroup hierarchy that bills memory is mounted here; look from the host, "
            "or mount it";
    } else if (failure == -ENOENT) {
        why =
            "the cgroup lies outside of the mounts that are visible here: it is another "
            "container's or the host's; look from the host";
    } else if (failure == -ENODATA) {
        why = "neither the cgroup nor an ancestor has the memory controller: it is off "
              "(cgroup_disable=memory), or used by nobody";
    } else {
        why = strerror(-failure);
    }
    cgroup->why = region_copy_text(region, why);
    return cgroup->why == NULL ? -ENOMEM : 0;
}

static bool has_file(int folder_fd, const char *name)
{
    return faccessat(folder_fd, name, F_OK, 0) == 0;
}

/*
 * Opens the cgroup at charged or its nearest ancestor with the memory controller, to which
 * charged is changed. A folder descriptor, or -ENODATA when no ancestor has it, or -errno.
 */
static int open_charged(struct cgroup_reader *reader, uint32_t version, char *charged)
{
    const char *file =
        version == CGROUP_VERSION_1 ? "memory.usage_in_bytes" : "memory.stat";
    int fd = cgroup_open_version(reader, version, charged);

    while (fd >= 0 && !has_file(fd, file)) {
        close(fd);
        fd = cgroup_path_to_parent(charged)
                 ? cgroup_open_version(reader, version, charged)
                 : -ENODATA;
    }
    return fd;
}

static int keep_path(struct region *region, const char *path, char **place)
{
    *place = region_copy_text(region, path);
    return *place == NULL ? -ENOMEM : 0;
}

/* The root of the hierarchy: of version 2, by what it lacks; a namespace has a root too. */
static bool is_root(const struct cgroup_facts *cgroup, int folder_fd)
{
    if (strcmp(cgroup->charged_path, "/") != 0) {
        return false;
    }
    return cgroup->version == CGROUP_VERSION_1 ? !cgroup->namespaced
                                               : !has_file(folder_fd, "memory.current");
}

static int read_folder(struct cgroup_reader *reader, struct region *region, int fd,
    struct cgroup_facts *cgroup)
{
    int rc = cgroup_values_read(
        reader->root, fd, cgroup->version, &reader->scratch, cgroup->values);

    cgroup->root = is_root(cgroup, fd);
    cgroup->state = FACT_OK;
    return rc == 0 ? cgroup_limits_find(reader, fd, region, cgroup) : rc;
}

/* Fills values, state and paths of a cgroup whose path and version are known. */
static int read_charges(
    struct cgroup_reader *reader, struct region *region, struct cgroup_facts *cgroup)
{
    bool mounted = false;

    for (size_t i = 0; i < reader->mounts.count; i++) {
        mounted = mounted || reader->mounts.items[i].version == cgroup->version;
    }
    char *charged = region_copy_text(region, cgroup->path);
    if (charged == NULL) {
        return -ENOMEM;
    }
    int fd = cgroup->deleted ? -ENOENT : open_charged(reader, cgroup->version, charged);
    if (fd < 0) {
        return explain_failure(region, cgroup, fd, mounted);
    }
    cgroup->charged_path = charged;
    int rc = read_folder(reader, region, fd, cgroup);
    close(fd);
    return rc;
}

/* Processes of a unit without memory accounting are billed to its slice. */
static bool is_vague(const char *unit)
{
    return unit == NULL || slice_ends_with((struct slice){unit, strlen(unit)}, ".slice");
}

static int take_identity(
    struct region *region, const struct cgroup_lines *lines, struct cgroup_facts *cgroup)
{
    const char *others[] = {lines->systemd, lines->unified};
    struct cgroup_identity identity;
    int rc = cgroup_path_identify(cgroup->path, region, &identity);

    /* On version 1 the unit may be known to the service manager's own hierarchy only. */
    for (size_t i = 0; rc == 0 && i < 2 && cgroup->version == CGROUP_VERSION_1; i++) {
        struct cgroup_identity other = {0};
        if (others[i] != NULL) {
            rc = cgroup_path_identify(others[i], region, &other);
        }
        if (is_vague(identity.unit) && other.unit != NULL) {
            identity.unit = other.unit;
        }
        if (identity.runtime == NULL) {
            identity.runtime = other.runtime;
            identity.container_id = other.container_id;
            identity.pod_uid = other.pod_uid;
        }
    }
    cgroup->runtime = identity.runtime;
    cgroup->container_id = identity.container_id;
    cgroup->unit = identity.unit;
    cgroup->pod_uid = identity.pod_uid;
    return rc;
}

/*
 * Takes " (deleted)" off the path (cgroup_path_ns(), version 2 only), unless a cgroup of
 * just that name is there.
 */
static void cut_deleted(struct cgroup_reader *reader, struct cgroup_facts *cgroup)
{
    struct slice path = {cgroup->path, strlen(cgroup->path)};

    if (!slice_ends_with(path, deleted_suffix)) {
        return;
    }
    int fd = cgroup_open_version(reader, cgroup->version, cgroup->path);
    if (fd >= 0) {
        close(fd);
        return;
    }
    cgroup->path[path.bytes - strlen(deleted_suffix)] = '\0';
    cgroup->deleted = true;
}

/* Pressure belongs to version 2, and is there without the memory controller as well. */
static int read_hybrid_pressure(
    struct cgroup_reader *reader, const char *unified, struct cgroup_facts *cgroup)
{
    /* At the root it is the whole machine's, unless the cgroup is that too. */
    if (unified == NULL || cgroup->version != CGROUP_VERSION_1 ||
        (strcmp(unified, "/") == 0 && !cgroup->root)) {
        return 0;
    }
    int fd = cgroup_open_version(reader, CGROUP_VERSION_2, unified);
    if (fd < 0) {
        return fd == -ENOMEM ? fd : 0;
    }
    int rc = facts_read_file(
        reader->root, fd, "memory.pressure", PRESSURE_MAX_BYTES, &reader->scratch);
    close(fd);
    if (rc == 0) {
        const char *text = buffer_text(&reader->scratch);
        const enum cgroup_fact ids[] = {CGROUP_FACT_PRESSURE_SOME,
            CGROUP_FACT_PRESSURE_FULL, CGROUP_FACT_PRESSURE_MINUTE};
        for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
            cgroup->values[ids[i]] = pressure_of_key(text, cgroup_fact_table[ids[i]].key);
        }
    }
    return rc == -ENOMEM ? rc : 0;
}

/*
 * In version 1 processors may have a hierarchy of their own, with other paths: that of the process
 * which is read first counts for the cgroup.
 */
static int find_quota(struct cgroup_reader *reader, const struct cgroup_lines *lines,
    struct region *region, struct cgroup_facts *cgroup)
{
    if (lines->processors != NULL) {
        return cgroup_quota_find(
            reader, CGROUP_PROCESSORS, lines->processors, region, cgroup);
    }
    const char *path =
        cgroup->version == CGROUP_VERSION_2 ? cgroup->path : lines->unified;
    return path == NULL
               ? 0
               : cgroup_quota_find(reader, CGROUP_VERSION_2, path, region, cgroup);
}

static int read_cgroup(struct cgroup_reader *reader, const struct cgroup_lines *lines,
    struct region *region, struct cgroup_facts *cgroup)
{
    const char *path = lines->memory != NULL ? lines->memory : lines->unified;
    int rc = keep_path(region, path, &cgroup->path);

    cgroup->version = lines->memory != NULL ? CGROUP_VERSION_1 : CGROUP_VERSION_2;
    cgroup->hybrid = lines->memory != NULL && lines->unified != NULL;
    cgroup->namespaced = reader->namespaced || strncmp(path, "/..", 3) == 0;
    if (rc == 0) {
        cut_deleted(reader, cgroup);
        rc = take_identity(region, lines, cgroup);
    }
    if (rc == 0) {
        rc = read_charges(reader, region, cgroup);
    }
    if (rc == 0) {
        rc = find_quota(reader, lines, region, cgroup);
    }
    return rc == 0 ? read_hybrid_pressure(reader, lines->unified, cgroup) : rc;
}

/* Where the path tells nothing, the mounts of a process in the cgroup may. */
static int look_at_mounts(struct cgroup_reader *reader, int process_fd,
    struct region *region, struct cgroup_facts *cgroup)
{
    struct cgroup_identity identity = {0};
    int rc = facts_read_process_file(
        reader->root, process_fd, "mountinfo", MOUNTINFO_MAX_BYTES, &reader->scratch);

    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    rc = container_mounts_identify(buffer_text(&reader->scratch), region, &identity);
    cgroup->runtime = identity.runtime;
    cgroup->container_id = identity.container_id;
    cgroup->pod_uid = identity.pod_uid;
    return rc;
}

/* The index of the cgroup that is known by path, or -1. The newest is the likeliest. */
static int32_t find_known(const struct facts *facts, const char *path)
{
    size_t bytes = strlen(path);

    for (size_t i = facts->cgroup_count; i-- > 0;) {
        const struct cgroup_facts *cgroup = &facts->cgroups[i];
        size_t known = strlen(cgroup->path);
        if (strncmp(path, cgroup->path, known) == 0 &&
            (cgroup->deleted ? strcmp(path + known, deleted_suffix) == 0
                             : known == bytes)) {
            return (int32_t)i;
        }
    }
    return -1;
}

/* process_fd -1: no process is known to be in it. */
static int add_cgroup(struct cgroup_reader *reader, const struct cgroup_lines *lines,
    int process_fd, struct facts *facts, int32_t *index)
{
    const char *path = lines->memory != NULL ? lines->memory : lines->unified;
    struct cgroup_facts *cgroup;

    *index = -1;
    if (path == NULL) {
        return 0; /* no hierarchy that bills memory */
    }
    *index = find_known(facts, path);
    if (*index >= 0) {
        return 0;
    }
    cgroup = region_grow(&facts->region, &facts->cgroups, facts->cgroup_count,
        FACTS_MAX_CGROUPS, sizeof(*cgroup));
    if (cgroup == NULL) {
        return -ENOMEM;
    }
    int rc = read_cgroup(reader, lines, &facts->region, cgroup);
    if (rc == 0 && process_fd >= 0 && cgroup->namespaced && cgroup->runtime == NULL) {
        rc = look_at_mounts(reader, process_fd, &facts->region, cgroup);
    }
    if (rc == 0) {
        *index = (int32_t)facts->cgroup_count++;
    }
    return rc;
}

int cgroup_read_process(
    struct cgroup_reader *reader, int process_fd, struct facts *facts, int32_t *index)
{
    struct cgroup_lines lines;
    struct region region;

    *index = -1;
    int rc = facts_read_process_file(
        reader->root, process_fd, "cgroup", CGROUP_FILE_MAX_BYTES, &reader->scratch);
    if (rc != 0) {
        return rc;
    }
    region_init(&region, LINES_REGION_BYTES);
    rc = cgroup_lines_parse(buffer_text(&reader->scratch), &region, &lines);
    if (rc == 0) {
        rc = add_cgroup(reader, &lines, process_fd, facts, index);
    }
    region_release(&region);
    return rc;
}

int cgroup_read_path(
    struct cgroup_reader *reader, const char *path, struct facts *facts, int32_t *index)
{
    struct cgroup_lines lines = {0};
    char *copy = region_copy_text(&facts->region, path);

    *index = -1;
    if (copy == NULL) {
        return -ENOMEM;
    }
    if (path[0] != '/' || reader->version == 0) {
        return -EINVAL;
    }
    if (reader->version == CGROUP_VERSION_1) {
        lines.memory = copy;
        lines.processors = copy; /* as all who manage cgroups make it */
    } else {
        lines.unified = copy;
    }
    return add_cgroup(reader, &lines, -1, facts, index);
}
