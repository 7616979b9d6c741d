/*
 * watch_view.c - the rows of a host, under names that stay the same from look to look.
 *
 * Series of metrics live as long as their labels, so a pid is part of a name only when asked
 * for; then programs that run several times over are one row. Equal labels are merged here and
 * nowhere else: no two rows of WATCH_NAMES or WATCH_PROCESSES have the same.
 */
#include "cmd/watch_view.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/collect.h"
#include "model/host_group.h"

enum { CONTAINER_DIGITS = 12 };

static const struct cgroup_facts *bill_of(const struct facts *group)
{
    const int32_t index = group->processes[0].cgroup_index;

    return index >= 0 && (size_t)index < group->cgroup_count ? &group->cgroups[index]
                                                             : NULL;
}

static const char *unit_of(struct region *region, const struct facts *group)
{
    const struct cgroup_facts *cgroup = bill_of(group);

    if (cgroup == NULL || !cgroup_is_service(cgroup)) {
        return "";
    }
    if (cgroup->container_id == NULL) {
        return cgroup->unit;
    }
    return region_copy(
        region, cgroup->container_id, strnlen(cgroup->container_id, CONTAINER_DIGITS));
}

/* 0 or -ENOMEM. */
static int label_group(
    struct region *region, const struct facts *group, struct metrics_labels *labels)
{
    const char *name = group->processes[0].name;
    const char *pool = process_pool_name(&group->processes[0]);

    labels->name = name != NULL ? name : "?";
    labels->pool = pool != NULL ? pool : "";
    labels->unit = unit_of(region, group);
    labels->pid = 0;
    return labels->unit != NULL ? 0 : -ENOMEM;
}

struct labelled_group {
    struct metrics_labels labels;
    const struct facts *group;
};

static int by_labels(const void *left, const void *right)
{
    const struct labelled_group *a = left;
    const struct labelled_group *b = right;
    int order = strcmp(a->labels.name, b->labels.name);

    if (order == 0) {
        order = strcmp(a->labels.pool, b->labels.pool);
    }
    if (order == 0) {
        order = strcmp(a->labels.unit, b->labels.unit);
    }
    return order;
}

static void append_members(struct facts *group, const struct facts *more)
{
    memcpy(&group->processes[group->process_count], more->processes,
        more->process_count * sizeof(*more->processes));
    group->process_count += more->process_count;
    group->target_kind = TARGET_POOL;
    if (group->target_cgroup != more->target_cgroup) {
        group->target_cgroup = -1;
    }
}

/* Groups with equal labels become one. */
static int merge_groups(struct host_account *account)
{
    struct region *region = &account->region;
    const size_t total = account->host.process_count;
    struct process_facts *processes =
        region_alloc(region, (total + 1) * sizeof(*processes));
    struct labelled_group *order =
        region_alloc(region, (account->group_count + 1) * sizeof(*order));
    struct facts *merged =
        region_alloc(region, (account->group_count + 1) * sizeof(*merged));
    size_t count = 0;

    if (processes == NULL || order == NULL || merged == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < account->group_count; i++) {
        order[i].group = &account->groups[i];
        if (label_group(region, order[i].group, &order[i].labels) != 0) {
            return -ENOMEM;
        }
    }
    qsort(order, account->group_count, sizeof(*order), by_labels);
    for (size_t i = 0; i < account->group_count; i++) {
        if (i > 0 && by_labels(&order[i - 1], &order[i]) == 0) {
            append_members(&merged[count - 1], order[i].group);
        } else {
            merged[count] = *order[i].group;
            merged[count].processes = processes;
            memcpy(processes, order[i].group->processes,
                order[i].group->process_count * sizeof(*processes));
            count++;
        }
        processes += order[i].group->process_count;
    }
    account->groups = merged;
    account->group_count = count;
    return 0;
}

/* Each process becomes a group of its own. */
static int split_groups(struct host_account *account)
{
    struct facts *split = region_alloc(
        &account->region, (account->host.process_count + 1) * sizeof(*split));
    size_t count = 0;

    if (split == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < account->group_count; i++) {
        const struct facts *group = &account->groups[i];
        for (size_t j = 0; j < group->process_count; j++) {
            split[count] = *group;
            split[count].target_kind = TARGET_PROCESS;
            split[count].processes = &group->processes[j];
            split[count].process_count = 1;
            split[count].target_cgroup = group->processes[j].cgroup_index;
            count++;
        }
    }
    account->groups = split;
    account->group_count = count;
    return 0;
}

static int name_row(const struct watch_options *options, struct region *region,
    const struct facts *group, struct watch_name *name)
{
    if (label_group(region, group, &name->labels) != 0) {
        return -ENOMEM;
    }
    if (options->rows == WATCH_PROCESSES) {
        name->labels.pid = group->processes[0].pid;
    }
    /* Services of the overview may share all labels; the first pid tells them apart. */
    const int32_t pid = options->rows == WATCH_NAMES ? 0 : group->processes[0].pid;
    name->key = region_printf(region, "%d\t%s\t%s\t%s", pid, name->labels.pool,
        name->labels.unit, name->labels.name);
    return name->key != NULL ? 0 : -ENOMEM;
}

static int name_rows(const struct watch_options *options, struct watch_view *view)
{
    struct host_account *account = &view->account;
    const size_t count = account->overview.count;

    view->names = region_alloc(&account->region, (count + 1) * sizeof(*view->names));
    if (view->names == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        int rc = name_row(options, &account->region,
            account->overview.rows[i].snapshot.facts, &view->names[i]);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int regroup(const struct watch_options *options, struct host_account *account)
{
    switch (options->rows) {
    case WATCH_NAMES:
        return merge_groups(account);
    case WATCH_PROCESSES:
        return split_groups(account);
    case WATCH_SERVICES:
        break;
    }
    return 0;
}

static int read_account(const struct watch_options *options, struct host_account *account,
    struct error *error)
{
    struct facts_root root;
    int rc = facts_root_open(&root, options->root, error);

    if (rc == 0) {
        rc = host_account_read(&root, COLLECT_OVERVIEW | COLLECT_CLOSELY, account, error);
        facts_root_close(&root);
    }
    return rc;
}

int watch_view_read(
    const struct watch_options *options, struct watch_view **result, struct error *error)
{
    const uint64_t cpu_before_ns = watch_cpu_ns();
    struct watch_view *view = calloc(1, sizeof(*view));

    if (view == NULL) {
        return -ENOMEM;
    }
    view->references = 1;
    view->taken_ns = watch_now_ns();
    int rc = read_account(options, &view->account, error);
    if (rc != 0) {
        free(view);
        return rc;
    }
    rc = regroup(options, &view->account);
    if (rc == 0) {
        rc = host_account_judge(&view->account);
    }
    if (rc == 0) {
        rc = name_rows(options, view);
    }
    view->wall_ns = watch_now_ns() - view->taken_ns;
    view->cpu_ns = watch_cpu_ns() - cpu_before_ns;
    if (rc != 0) {
        watch_view_free(view);
        return rc;
    }
    *result = view;
    return 0;
}

void watch_view_free(struct watch_view *view)
{
    host_account_release(&view->account);
    free(view);
}
