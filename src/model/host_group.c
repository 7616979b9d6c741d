/*
 * host_group.c - services out of a flat list of processes.
 *
 * Each process gets a key: its name, its service or container when it is in one, else the
 * topmost ancestor of the same name. Sorting by the key makes groups of neighbours, so
 * that thousands of processes cost one sort.
 */
#include "model/host_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts_types/fpm_facts.h"

/* A chain of parents longer than this is no chain of workers. */
enum { MAX_ANCESTORS = 64 };

/* A server whose workers are another program: they are one group, and it is another. */
static const char roadrunner_name[] = "rr";

struct member {
    const struct process_facts *process;
    const char *name; /* never NULL */
    const char *pool; /* name of the php-fpm pool, or NULL */
    int32_t service;  /* index of the cgroup of its service or container, or -1 */
    int32_t ancestor; /* pid, when there is no service; the master of a pool */
};

static int by_pid(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;

    return (a->process->pid > b->process->pid) - (a->process->pid < b->process->pid);
}

static int by_key(const void *left, const void *right)
{
    const struct member *a = left;
    const struct member *b = right;
    int order = strcmp(a->name, b->name);

    if (order == 0) {
        order = strcmp(a->pool != NULL ? a->pool : "", b->pool != NULL ? b->pool : "");
    }
    if (order == 0) {
        order = (a->service > b->service) - (a->service < b->service);
    }
    if (order == 0) {
        order = (a->ancestor > b->ancestor) - (a->ancestor < b->ancestor);
    }
    return order;
}

static int by_key_then_pid(const void *left, const void *right)
{
    int order = by_key(left, right);

    return order != 0 ? order : by_pid(left, right);
}

/* members are sorted by pid. */
static const struct member *find_member(
    const struct member *members, size_t count, int32_t pid)
{
    struct process_facts process = {.pid = pid};
    struct member key = {.process = &process};

    return bsearch(&key, members, count, sizeof(*members), by_pid);
}

static int32_t topmost_of_name(
    const struct member *members, size_t count, const struct member *member)
{
    for (int i = 0; i < MAX_ANCESTORS; i++) {
        const struct member *parent =
            find_member(members, count, member->process->parent_pid);
        if (parent == NULL || parent == member ||
            strcmp(parent->name, member->name) != 0) {
            break;
        }
        member = parent;
    }
    const struct member *parent =
        find_member(members, count, member->process->parent_pid);
    if (parent != NULL && strcmp(parent->name, roadrunner_name) == 0) {
        return parent->process->pid;
    }
    return member->process->pid;
}

bool cgroup_is_service(const struct cgroup_facts *cgroup)
{
    static const char suffix[] = ".service";
    size_t bytes = cgroup->unit != NULL ? strlen(cgroup->unit) : 0;

    return cgroup->container_id != NULL ||
           (bytes >= sizeof(suffix) &&
               strcmp(cgroup->unit + bytes - (sizeof(suffix) - 1), suffix) == 0);
}

const char *process_pool_name(const struct process_facts *process)
{
    if (process->title != NULL &&
        strncmp(process->title, FPM_POOL_TITLE, sizeof(FPM_POOL_TITLE) - 1) == 0) {
        return process->title + sizeof(FPM_POOL_TITLE) - 1;
    }
    return NULL;
}

bool process_is_pool_master(const struct process_facts *process)
{
    return process->title != NULL &&
           strncmp(process->title, FPM_MASTER_TITLE, sizeof(FPM_MASTER_TITLE) - 1) == 0;
}

static struct member describe(
    const struct facts *host, const struct process_facts *process)
{
    struct member member = {.process = process, .name = "?", .service = -1};
    int32_t index = process->cgroup_index;

    if (process->name != NULL) {
        member.name = process->name;
    }
    if (index >= 0 && (size_t)index < host->cgroup_count &&
        cgroup_is_service(&host->cgroups[index])) {
        member.service = index;
    }
    member.pool = process_pool_name(process);
    return member;
}

static void set_ancestors(struct member *members, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (members[i].pool != NULL) {
            members[i].ancestor = members[i].process->parent_pid;
        } else if (members[i].service < 0) {
            members[i].ancestor = topmost_of_name(members, count, &members[i]);
        }
    }
}

/* The cgroup that all processes of the group are in, or -1. */
static int32_t common_cgroup(const struct facts *group)
{
    for (size_t i = 1; i < group->process_count; i++) {
        if (group->processes[i].cgroup_index != group->processes[0].cgroup_index) {
            return -1;
        }
    }
    return group->processes[0].cgroup_index;
}

static int name_group(
    struct region *region, const struct member *first, struct facts *group)
{
    group->target_kind =
        group->process_count > 1 || first->pool != NULL ? TARGET_POOL : TARGET_PROCESS;
    group->target_name = first->pool != NULL
                             ? region_printf(region, "pool:%s", first->pool)
                             : region_copy_text(region, first->name);
    return group->target_name == NULL ? -ENOMEM : 0;
}

/* The processes of the members, which are neighbours in the host's array only when alone. */
static struct process_facts *take_processes(const struct facts *host,
    struct region *region, const struct member *members, size_t count)
{
    struct process_facts *processes;

    if (count == 1) {
        return &host->processes[members[0].process - host->processes];
    }
    processes = region_alloc(region, count * sizeof(*processes));
    for (size_t i = 0; processes != NULL && i < count; i++) {
        processes[i] = *members[i].process;
    }
    return processes;
}

static int fill_group(const struct facts *host, struct region *region,
    const struct member *members, size_t count, struct facts *group)
{
    group->schema = host->schema;
    group->taken_at_unix_ns = host->taken_at_unix_ns;
    group->host = host->host;
    group->cgroups = host->cgroups;
    group->cgroup_count = host->cgroup_count;
    group->processes = take_processes(host, region, members, count);
    group->process_count = count;
    if (group->processes == NULL) {
        return -ENOMEM;
    }
    group->target_cgroup = common_cgroup(group);
    return name_group(region, members, group);
}

/* groups: room for all of them; members are sorted by key. */
static int fill_groups(const struct facts *host, struct region *region,
    const struct member *members, struct facts *groups)
{
    size_t first = 0;
    int rc = 0;

    for (size_t i = 1; rc == 0 && i <= host->process_count; i++) {
        if (i == host->process_count || by_key(&members[i - 1], &members[i]) != 0) {
            rc = fill_group(host, region, &members[first], i - first, groups++);
            first = i;
        }
    }
    return rc;
}

static size_t count_groups(const struct member *members, size_t count)
{
    size_t groups = count > 0 ? 1 : 0;

    for (size_t i = 1; i < count; i++) {
        groups += by_key(&members[i - 1], &members[i]) != 0 ? 1 : 0;
    }
    return groups;
}

int host_groups_build(
    const struct facts *host, struct region *region, struct facts **groups, size_t *count)
{
    size_t total = host->process_count;
    struct member *members = region_alloc(region, (total + 1) * sizeof(*members));

    if (members == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < total; i++) {
        members[i] = describe(host, &host->processes[i]);
    }
    qsort(members, total, sizeof(*members), by_pid);
    set_ancestors(members, total);
    qsort(members, total, sizeof(*members), by_key_then_pid);
    size_t found = count_groups(members, total);
    struct facts *filled = region_alloc(region, (found + 1) * sizeof(*filled));
    if (filled == NULL) {
        return -ENOMEM;
    }
    int rc = fill_groups(host, region, members, filled);
    if (rc == 0) {
        *groups = filled;
        *count = found;
    }
    return rc;
}
