/*
 * target_group.c - the rule that makes several processes one pool.
 *
 * A pool of workers is forked by a master (nginx, PHP-FPM, PostgreSQL), or started side by
 * side in one service or container. The same program somewhere else on the host is another
 * matter: its figures must not be mixed in unasked. A login session is no service,
 * though systemd keeps a unit for it.
 */
#include "facts/target_group.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/quantity.h"
#include "facts/cgroup_path.h"
#include "facts/process_name.h"

enum {
    DESCRIBED_MAX = 6,
    TITLE_BYTES = 40,
    IDENTITY_BYTES = 64 << 10,
    PARENTS_MAX = 1024
};

#define SERVICE_SUFFIX ".service"

static bool same_text(const char *a, const char *b)
{
    return a != NULL && b != NULL && strcmp(a, b) == 0;
}

bool target_group_same_program(
    const struct process_entry *a, const struct process_entry *b)
{
    if (a->executable != NULL && b->executable != NULL) {
        return strcmp(a->executable, b->executable) == 0;
    }
    return same_text(a->name, b->name);
}

static int compare_pid(const void *key, const void *item)
{
    const int32_t pid = *(const int32_t *)key;
    const struct process_entry *entry = *(const struct process_entry *const *)item;

    return (pid > entry->pid) - (pid < entry->pid);
}

static bool is_member(const struct target_group *group, int32_t pid)
{
    return bsearch(&pid, group->entries, group->count,
               sizeof(const struct process_entry *), compare_pid) != NULL;
}

/* Follows the parents of a member until one is a member, too. */
static bool is_root(const struct target_group *group, size_t index)
{
    const struct process_entry *entry = group->entries[index];

    for (int steps = 0; steps < PARENTS_MAX && entry != NULL; steps++) {
        const int32_t parent = entry->parent_pid;
        if (parent <= 0 || parent == group->entries[index]->pid) {
            return true;
        }
        if (is_member(group, parent)) {
            return false;
        }
        entry = process_list_find(group->list, parent);
    }
    return true;
}

static size_t count_roots(const struct target_group *group)
{
    size_t roots = 0;

    for (size_t i = 0; i < group->count; i++) {
        roots += is_root(group, i);
    }
    return roots;
}

static bool is_service_path(const char *path)
{
    const size_t suffix_bytes = strlen(SERVICE_SUFFIX);
    struct cgroup_identity identity;
    struct region region;

    region_init(&region, IDENTITY_BYTES);
    bool service = cgroup_path_identify(path, &region, &identity) == 0;
    if (service && identity.container_id == NULL) {
        const size_t length = identity.unit == NULL ? 0 : strlen(identity.unit);
        service = length > suffix_bytes &&
                  strcmp(identity.unit + length - suffix_bytes, SERVICE_SUFFIX) == 0;
    }
    region_release(&region);
    return service;
}

bool target_group_is_service(const struct target_group *group)
{
    bool same_cgroup = true;

    for (size_t i = 1; i < group->count; i++) {
        if (!target_group_same_program(group->entries[0], group->entries[i])) {
            return false;
        }
        same_cgroup = same_cgroup &&
                      same_text(group->entries[0]->cgroup, group->entries[i]->cgroup);
    }
    return count_roots(group) == 1 ||
           (same_cgroup && is_service_path(group->entries[0]->cgroup));
}

/* A root of the group with what descends from it. */
struct family {
    size_t processes;
    uint64_t resident_pages;
};

static struct family family_of(const struct target_group *group, size_t index)
{
    const struct process_entry *root = group->entries[index];
    struct family family = {.processes = 1, .resident_pages = root->resident_pages};

    for (size_t i = 0; i < group->count; i++) {
        if (process_list_descends(group->list, group->entries[i]->pid, root->pid)) {
            family.processes++;
            family.resident_pages =
                number_add(family.resident_pages, group->entries[i]->resident_pages);
        }
    }
    return family;
}

static void describe_one(
    const struct target_group *group, size_t index, struct buffer *buffer)
{
    const struct process_entry *entry = group->entries[index];
    const struct family family = family_of(group, index);
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    buffer_printf(buffer, "\n  %d %s", entry->pid, entry->name);
    if (family.processes > 1) {
        buffer_printf(buffer, ", %s", quantity_count(family.processes, "process").text);
    }
    if (family.resident_pages <= UINT64_MAX / page_bytes) {
        buffer_printf(buffer, ", %s",
            quantity_bytes(family.resident_pages * page_bytes, false).text);
    }
    if (entry->cgroup != NULL && strcmp(entry->cgroup, "/") != 0) {
        buffer_printf(buffer, ", %s", process_path_base(entry->cgroup));
    }
    if (entry->title != NULL && strcmp(entry->title, entry->name) != 0) {
        buffer_printf(buffer, ": %.*s", TITLE_BYTES, entry->title);
    }
}

void target_group_describe(const struct target_group *group, struct buffer *buffer)
{
    size_t described = 0;
    size_t roots = 0;

    for (size_t i = 0; i < group->count; i++) {
        if (!is_root(group, i)) {
            continue;
        }
        roots++;
        if (described < DESCRIBED_MAX) {
            describe_one(group, i, buffer);
            described++;
        }
    }
    if (roots > described) {
        buffer_printf(buffer, "\n  and %zu more", roots - described);
    }
}

static int compare_pids(const void *left, const void *right)
{
    const struct process_entry *a = *(const struct process_entry *const *)left;
    const struct process_entry *b = *(const struct process_entry *const *)right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

void target_group_sort_by_pid(struct target_group *group)
{
    if (group->count > 1) {
        qsort(group->entries, group->count, sizeof(const struct process_entry *),
            compare_pids);
    }
}

static int compare_starts(const void *left, const void *right)
{
    const struct process_entry *a = *(const struct process_entry *const *)left;
    const struct process_entry *b = *(const struct process_entry *const *)right;

    if (a->start_time_ticks != b->start_time_ticks) {
        return a->start_time_ticks < b->start_time_ticks ? -1 : 1;
    }
    return (a->pid > b->pid) - (a->pid < b->pid);
}

void target_group_sort(struct target_group *group)
{
    if (group->count > 1) {
        qsort(group->entries, group->count, sizeof(const struct process_entry *),
            compare_starts);
    }
}
