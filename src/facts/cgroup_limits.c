/*
 * cgroup_limits.c - the limits of a cgroup and of all above it.
 *
 * A limit counts for all cgroups below it, so the one that stops a process may be any
 * ancestor's: the smallest limit is one number, and how much is left until some limit is
 * met is another, since siblings use up an ancestor's limit too. Ancestors above the
 * namespace of the reader cannot be seen; in version 1 the kernel tells their smallest limit
 * all the same (hierarchical_memory_limit). A cgroup of version 1 whose parent has
 * memory.use_hierarchy 0 (gone since Linux 5.11) is not charged to that parent.
 */
#include "facts/cgroup_limits.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/cgroup_path.h"
#include "facts/cgroup_values.h"

enum { QUOTA_MAX_BYTES = 128 };

static int keep_path(struct region *region, const char *path, char **place)
{
    *place = region_copy_text(region, path);
    return *place == NULL ? -ENOMEM : 0;
}

/* Lowers the limit and the headroom to those of the ancestor at path, if they are less. */
static int take_limits(struct region *region, const struct cgroup_limits *limits,
    const char *path, struct cgroup_facts *cgroup)
{
    struct fact *limit = &cgroup->values[CGROUP_FACT_LIMIT_EFFECTIVE];
    struct fact *headroom = &cgroup->values[CGROUP_FACT_HEADROOM];
    int rc = 0;

    if (limits->limit.state != FACT_OK) {
        return 0;
    }
    /* Of equal limits the outer one is met first: it counts more. */
    if (limit->state != FACT_OK || limits->limit.value <= limit->value) {
        *limit = limits->limit;
        rc = keep_path(region, path, &cgroup->limit_path);
    }
    if (rc != 0 || limits->usage.state != FACT_OK) {
        return rc;
    }
    uint64_t left = number_subtract(limits->limit.value, limits->usage.value);
    if (headroom->state != FACT_OK || left <= headroom->value) {
        *headroom = (struct fact){.value = left, .state = FACT_OK};
        rc = keep_path(region, path, &cgroup->headroom_path);
    }
    return rc;
}

/*
 * Our own usage is part of the hidden ancestor's: what is left below its limit is at most
 * the limit less that.
 */
static void bound_headroom(uint64_t limit_bytes, struct cgroup_facts *cgroup)
{
    const struct fact *usage = &cgroup->values[CGROUP_FACT_USAGE];
    struct fact *headroom = &cgroup->values[CGROUP_FACT_HEADROOM];

    if (usage->state != FACT_OK) {
        return;
    }
    uint64_t most = number_subtract(limit_bytes, usage->value);
    if (headroom->state != FACT_OK || most < headroom->value) {
        *headroom = (struct fact){.value = most, .state = FACT_OK};
        cgroup->headroom_path = NULL;
    }
}

/* A limit of version 1 that lies above what is visible. */
static int take_hidden_limit(
    struct cgroup_reader *reader, int charged_fd, struct cgroup_facts *cgroup)
{
    struct fact *limit = &cgroup->values[CGROUP_FACT_LIMIT_EFFECTIVE];
    struct fact hidden;
    int rc =
        cgroup_hierarchical_limit(reader->root, charged_fd, &reader->scratch, &hidden);

    if (rc == 0 && hidden.state == FACT_OK &&
        (limit->state != FACT_OK || hidden.value < limit->value)) {
        *limit = hidden;
        cgroup->limit_path = NULL;
        bound_headroom(hidden.value, cgroup);
    }
    return rc;
}

/* Climbs from the cgroup at path, which is changed, to the outermost visible ancestor. */
static int climb(struct cgroup_reader *reader, struct region *region, char *path,
    struct cgroup_facts *cgroup)
{
    int rc = 0;

    do {
        struct cgroup_limits limits;
        int fd = cgroup_open_version(reader, cgroup->version, path);
        if (fd < 0) {
            return fd == -ENOMEM ? fd : 0;
        }
        bool counts = strcmp(path, cgroup->charged_path) == 0 ||
                      cgroup_is_charged_for_children(
                          reader->root, fd, cgroup->version, &reader->scratch);
        rc = cgroup_limits_read(
            reader->root, fd, cgroup->version, &reader->scratch, &limits);
        close(fd);
        if (!counts) {
            return rc;
        }
        if (rc == 0) {
            rc = take_limits(region, &limits, path, cgroup);
        }
    } while (rc == 0 && cgroup_path_to_parent(path));
    return rc;
}

static void take_quota(uint64_t quota_us, uint64_t period_us, struct cgroup_facts *cgroup)
{
    enum { SECOND_US = 1000000 };
    struct fact *least = &cgroup->values[CGROUP_FACT_CPU_QUOTA];

    if (period_us == 0 || quota_us > UINT64_MAX / SECOND_US) {
        return;
    }
    const uint64_t quota = quota_us * SECOND_US / period_us;
    if (least->state != FACT_OK || quota < least->value) {
        *least = (struct fact){.value = quota, .state = FACT_OK};
    }
}

/* A number at the start of the file; "max" and -1, which mean no quota, are none. -EINVAL then. */
static int read_number(struct cgroup_reader *reader, int fd, const char *file,
    const char **rest, uint64_t *value)
{
    int rc = facts_read_file(reader->root, fd, file, QUOTA_MAX_BYTES, &reader->scratch);

    *rest = buffer_text(&reader->scratch);
    return rc == 0 ? number_read(rest, 10, value) : rc;
}

/*
 * Both in microseconds, in version 2 on one line: "150000 100000", so much time in so much.
 * -EINVAL: no quota.
 */
static int read_quota(struct cgroup_reader *reader, int fd,
    enum cgroup_hierarchy hierarchy, uint64_t *quota, uint64_t *period)
{
    const bool together = hierarchy == CGROUP_VERSION_2;
    const char *rest;
    int rc =
        read_number(reader, fd, together ? "cpu.max" : "cpu.cfs_quota_us", &rest, quota);

    if (rc != 0) {
        return rc;
    }
    if (together) {
        return *rest++ == ' ' ? number_read(&rest, 10, period) : -EINVAL;
    }
    return read_number(reader, fd, "cpu.cfs_period_us", &rest, period);
}

/* The quota of any of them holds the cgroup at path, which is changed, back. */
static int climb_for_quota(struct cgroup_reader *reader, enum cgroup_hierarchy hierarchy,
    char *path, struct cgroup_facts *cgroup)
{
    int rc;

    do {
        uint64_t quota;
        uint64_t period;
        const int fd = cgroup_open_version(reader, hierarchy, path);
        if (fd < 0) {
            return fd == -ENOMEM ? fd : 0;
        }
        rc = read_quota(reader, fd, hierarchy, &quota, &period);
        close(fd);
        if (rc == 0) {
            take_quota(quota, period, cgroup);
        }
    } while (rc != -ENOMEM && cgroup_path_to_parent(path));
    return rc == -ENOMEM ? rc : 0;
}

int cgroup_quota_find(struct cgroup_reader *reader, enum cgroup_hierarchy hierarchy,
    const char *path, struct region *region, struct cgroup_facts *cgroup)
{
    char *copy = region_copy_text(region, path);

    return copy == NULL ? -ENOMEM : climb_for_quota(reader, hierarchy, copy, cgroup);
}

int cgroup_limits_find(struct cgroup_reader *reader, int charged_fd,
    struct region *region, struct cgroup_facts *cgroup)
{
    char *path = region_copy_text(region, cgroup->charged_path);
    int rc = path == NULL ? -ENOMEM : climb(reader, region, path, cgroup);

    if (rc == 0 && cgroup->version == CGROUP_VERSION_1) {
        rc = take_hidden_limit(reader, charged_fd, cgroup);
    }
    return rc;
}
