/*
 * target.c - from what was typed to the processes that are meant.
 *
 * The forms are tried in a fixed order, the exact ones first, so that the same text means the
 * same thing tomorrow: a name never shadows a pid, and a container's id is only tried when
 * nothing is called like that. strata itself is never a match by name.
 */
#include "facts/target.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "base/quantity.h"
#include "facts/cgroup_path.h"
#include "facts/cgroup_tree.h"
#include "facts/fpm.h"
#include "facts/process_folder.h"
#include "facts/process_list.h"
#include "facts/process_name.h"
#include "facts/roadrunner.h"
#include "facts/status.h"
#include "facts/target_group.h"

enum { SIMILAR_MAX = 5, SIMILAR_BYTES_MIN = 3 };

#define POOL_PREFIX "pool:"

struct finder {
    struct facts_root *root;
    struct cgroup_reader *cgroups;
    const char *text;
    struct region *region;
    struct target *target;
    struct error *error;
    struct process_list list;
    struct target_group group; /* room for all entries of list */
};

/* ---- results */

static int take_pid(struct finder *finder, int32_t pid)
{
    struct target *target = finder->target;

    target->pids = region_alloc(finder->region, sizeof(*target->pids));
    if (target->pids == NULL) {
        return -ENOMEM;
    }
    target->pids[0] = pid;
    target->count = 1;
    target->kind = TARGET_PROCESS;
    return 0;
}

static int take_group(struct finder *finder, enum target_kind kind, const char *name)
{
    struct target *target = finder->target;
    struct target_group *group = &finder->group;

    target_group_sort(group);
    target->kind = kind;
    target->name = region_copy_text(finder->region, name);
    target->pids = region_alloc(finder->region, group->count * sizeof(*target->pids));
    if (target->name == NULL || target->pids == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < group->count; i++) {
        target->pids[i] = group->entries[i]->pid;
    }
    target->count = group->count;
    return 0;
}

static int refuse_several(struct finder *finder)
{
    struct buffer buffer;

    buffer_init(&buffer);
    target_group_sort_by_pid(&finder->group);
    target_group_describe(&finder->group, &buffer);
    int rc = error_set(finder->error, -EEXIST,
        "cannot choose '%s': several processes match that do not belong together%s\n"
        "name one by its pid, with its descendants by pool:PID, or by its unit",
        finder->text, buffer_text(&buffer));
    buffer_release(&buffer);
    return rc;
}

/* One process, a pool, or too many. */
static int take_matches(struct finder *finder)
{
    struct target_group *group = &finder->group;

    if (group->count > 1 && !target_group_is_service(group)) {
        return refuse_several(finder);
    }
    if (roadrunner_is_server(group)) {
        int rc = roadrunner_add_workers(finder->root, group);
        if (rc != 0) {
            return rc;
        }
    }
    return group->count == 1 ? take_group(finder, TARGET_PROCESS, group->entries[0]->name)
                             : take_group(finder, TARGET_POOL, finder->text);
}

/* ---- by pid */

/* The process that a thread belongs to; a thread's own number is not in the list of /proc. */
static int32_t group_of(struct process_folder *folder)
{
    struct process_facts process = {0};
    struct buffer buffer;
    int32_t group_pid = 0;

    buffer_init(&buffer);
    if (process_folder_read(folder, "status", STATUS_MAX_BYTES, &buffer) == 0 &&
        buffer.data != NULL) {
        status_parse(buffer.data, buffer.length_bytes, &process, &group_pid);
    }
    buffer_release(&buffer);
    return group_pid != 0 ? group_pid : folder->pid;
}

static int find_pid(struct finder *finder, int32_t pid)
{
    struct process_folder folder;
    int rc = process_folder_open(finder->root, pid, &folder);

    if (rc != 0) {
        return rc;
    }
    const int32_t group_pid = group_of(&folder);
    if (group_pid != pid) {
        process_folder_close(&folder);
        rc = process_folder_open(finder->root, group_pid, &folder);
        if (rc != 0) {
            return rc;
        }
    }
    finder->target->name = region_copy_text(finder->region, folder.stat.name);
    process_folder_close(&folder);
    return finder->target->name == NULL ? -ENOMEM : take_pid(finder, group_pid);
}

/* ---- by what a process is called */

static int list_processes(struct finder *finder)
{
    int rc = process_list_read(finder->root, finder->region, &finder->list);

    if (rc != 0) {
        return error_set(
            finder->error, rc, "cannot list the processes: %s", strerrordesc_np(-rc));
    }
    finder->group = (struct target_group){.list = &finder->list,
        .entries = region_alloc(
            finder->region, finder->list.count * sizeof(struct process_entry *))};
    return finder->group.entries == NULL ? -ENOMEM : 0;
}

static bool is_ourselves(const struct finder *finder, const struct process_entry *entry)
{
    return finder->root->pids_are_ours && entry->pid == getpid();
}

static bool is_called(const struct process_entry *entry, const char *text)
{
    return strcmp(entry->name, text) == 0 ||
           (entry->executable != NULL &&
               (strcmp(entry->executable, text) == 0 ||
                   strcmp(process_path_base(entry->executable), text) == 0));
}

/* Fills the group; *lifeless: a kernel thread or zombie of that name was passed over. */
static void match_name(struct finder *finder, const struct process_entry **lifeless)
{
    finder->group.count = 0;
    *lifeless = NULL;
    for (size_t i = 0; i < finder->list.count; i++) {
        const struct process_entry *entry = &finder->list.entries[i];
        if (is_ourselves(finder, entry) || !is_called(entry, finder->text)) {
            continue;
        }
        if (entry->kernel_thread || entry->run_state == 'Z') {
            *lifeless = entry;
        } else {
            finder->group.entries[finder->group.count++] = entry;
        }
    }
}

static bool is_master(const struct process_entry *entry)
{
    return entry->title != NULL && entry->run_state != 'Z' &&
           strncmp(entry->title, FPM_MASTER_TITLE, strlen(FPM_MASTER_TITLE)) == 0;
}

/* The masters of the workers in the group, which become members. */
static size_t add_masters(struct finder *finder)
{
    const size_t workers = finder->group.count;
    size_t masters = 0;

    for (size_t i = 0; i < finder->list.count; i++) {
        const struct process_entry *entry = &finder->list.entries[i];
        bool parent = false;
        for (size_t j = 0; j < workers && !parent; j++) {
            parent = finder->group.entries[j]->parent_pid == entry->pid;
        }
        if (parent && is_master(entry)) {
            finder->group.entries[finder->group.count++] = entry;
            masters++;
        }
    }
    return masters;
}

static void list_pools(const struct finder *finder, struct buffer *buffer)
{
    const char *last = "";
    size_t listed = 0;

    for (size_t i = 0; i < finder->list.count && listed < SIMILAR_MAX; i++) {
        const char *title = finder->list.entries[i].title;
        if (title == NULL ||
            strncmp(title, FPM_POOL_TITLE, strlen(FPM_POOL_TITLE)) != 0 ||
            strcmp(title, last) == 0) {
            continue;
        }
        buffer_printf(buffer, "%s'%s'", listed == 0 ? "; running: " : ", ",
            title + strlen(FPM_POOL_TITLE));
        last = title;
        listed++;
    }
}

/* The process of that pid, those of its descendants that run the same program, workers. */
static int find_tree(struct finder *finder, int32_t pid)
{
    const struct process_entry *top = process_list_find(&finder->list, pid);

    if (top == NULL) {
        return 0;
    }
    for (size_t i = 0; i < finder->list.count; i++) {
        const struct process_entry *entry = &finder->list.entries[i];
        if (entry == top || (target_group_same_program(entry, top) &&
                                process_list_descends(&finder->list, entry->pid, pid))) {
            finder->group.entries[finder->group.count++] = entry;
        }
    }
    return roadrunner_is_server(&finder->group)
               ? roadrunner_add_workers(finder->root, &finder->group)
               : 0;
}

static int refuse_pool(struct finder *finder, const char *pool)
{
    struct buffer buffer;

    buffer_init(&buffer);
    list_pools(finder, &buffer);
    int rc = error_set(finder->error, -ENOENT,
        "cannot find pool '%s': no PHP-FPM worker has that title, no configuration of a "
        "master that can be read has it, no RoadRunner worker that RR_MODE, no process "
        "that pid%s",
        pool, buffer_text(&buffer));
    buffer_release(&buffer);
    return rc;
}

/* With pm = ondemand a pool without work is its master alone. */
static int find_idle_pool(struct finder *finder, const char *pool)
{
    int rc = 0;

    for (size_t i = 0; i < finder->list.count && rc == 0; i++) {
        const struct process_entry *entry = &finder->list.entries[i];
        bool lists = false;
        if (is_master(entry)) {
            rc = fpm_master_lists(finder->root, entry->pid, pool, &lists);
        }
        if (lists) {
            finder->group.entries[finder->group.count++] = entry;
        }
    }
    if (rc != 0) {
        return rc;
    }
    if (finder->group.count == 0) {
        return refuse_pool(finder, pool);
    }
    return finder->group.count > 1 ? refuse_several(finder)
                                   : take_group(finder, TARGET_POOL, pool);
}

/* A pool that has no title: RoadRunner's by its mode, any by the pid of its first process. */
static int find_untitled_pool(struct finder *finder, const char *pool)
{
    size_t servers = 0;
    uint64_t pid = 0;
    int rc = number_parse(pool, &pid) == 0 && pid > 0 && pid <= INT32_MAX
                 ? find_tree(finder, (int32_t)pid)
                 : roadrunner_find(finder->root, pool, &finder->group, &servers);

    if (rc != 0) {
        return rc;
    }
    if (finder->group.count == 0) {
        return find_idle_pool(finder, pool);
    }
    return servers > 1 ? refuse_several(finder) : take_group(finder, TARGET_POOL, pool);
}

static int find_pool(struct finder *finder, const char *pool)
{
    for (size_t i = 0; i < finder->list.count; i++) {
        const struct process_entry *entry = &finder->list.entries[i];
        if (entry->title != NULL && entry->run_state != 'Z' &&
            strncmp(entry->title, FPM_POOL_TITLE, strlen(FPM_POOL_TITLE)) == 0 &&
            strcmp(entry->title + strlen(FPM_POOL_TITLE), pool) == 0) {
            finder->group.entries[finder->group.count++] = entry;
        }
    }
    if (finder->group.count == 0) {
        return find_untitled_pool(finder, pool);
    }
    if (add_masters(finder) > 1) {
        return refuse_several(finder);
    }
    return take_group(finder, TARGET_POOL, pool);
}

/* ---- by cgroup, unit or container */

static int take_cgroup(struct finder *finder, const char *path)
{
    struct cgroup_members members;
    struct cgroup_identity identity;
    struct target *target = finder->target;

    int rc = cgroup_members(finder->cgroups, path, finder->region, &members);
    if (rc != 0) {
        return rc;
    }
    if (members.count == 0) {
        return error_set(finder->error, -ENOENT,
            "cannot explain cgroup '%s': no process is in it", path);
    }
    rc = cgroup_path_identify(path, finder->region, &identity);
    if (rc != 0) {
        return rc;
    }
    const bool unit = identity.unit != NULL && identity.container_id == NULL;
    target->kind = unit ? TARGET_UNIT : TARGET_CGROUP;
    target->name = region_copy_text(finder->region, unit ? identity.unit : path);
    target->cgroup = region_copy_text(finder->region, path);
    target->pids = members.pids;
    target->count = members.count;
    return target->name == NULL || target->cgroup == NULL ? -ENOMEM : 0;
}

/* "\n  /PATH, 3 processes, 12.0 MiB": by what its processes have resident. */
static int describe_cgroup(struct finder *finder, const char *path, struct buffer *buffer)
{
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);
    struct cgroup_members members;
    uint64_t pages = 0;
    int rc = cgroup_members(finder->cgroups, path, finder->region, &members);

    buffer_printf(buffer, "\n  %s", path);
    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    for (size_t i = 0; i < members.count; i++) {
        const struct process_entry *entry =
            process_list_find(&finder->list, members.pids[i]);
        pages = number_add(pages, entry != NULL ? entry->resident_pages : 0);
    }
    buffer_printf(buffer, ", %s", quantity_count(members.count, "process").text);
    if (pages <= UINT64_MAX / page_bytes) {
        buffer_printf(buffer, ", %s", quantity_bytes(pages * page_bytes, false).text);
    }
    return 0;
}

static int refuse_cgroups(struct finder *finder, const struct cgroup_matches *matches)
{
    struct buffer buffer;
    int rc = 0;

    buffer_init(&buffer);
    for (size_t i = 0; i < matches->count && i < SIMILAR_MAX && rc == 0; i++) {
        rc = describe_cgroup(finder, matches->paths[i], &buffer);
    }
    if (matches->count > SIMILAR_MAX) {
        buffer_printf(&buffer, "\n  and %zu more", matches->count - SIMILAR_MAX);
    }
    if (rc == 0) {
        rc = error_set(finder->error, -EEXIST,
            "cannot choose '%s': several cgroups match%s\ngive one by its path",
            finder->text, buffer_text(&buffer));
    }
    buffer_release(&buffer);
    return rc;
}

/* -ENOENT without an error when no cgroup is meant. */
static int find_cgroup(struct finder *finder)
{
    struct cgroup_matches matches;

    if (finder->cgroups == NULL) {
        return -ENOENT;
    }
    int rc = cgroup_find(finder->cgroups, finder->text, finder->region, &matches);
    if (rc != 0) {
        return rc;
    }
    if (matches.count == 0) {
        return -ENOENT;
    }
    return matches.count == 1 ? take_cgroup(finder, matches.paths[0])
                              : refuse_cgroups(finder, &matches);
}

/* ---- nothing found */

static bool is_similar(const char *name, const char *text)
{
    return strlen(text) >= SIMILAR_BYTES_MIN &&
           (strstr(name, text) != NULL ||
               (strlen(name) >= SIMILAR_BYTES_MIN && strstr(text, name) != NULL));
}

static bool is_listed(const char *const *names, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (strcmp(names[i], name) == 0) {
            return true;
        }
    }
    return false;
}

static int refuse_unknown(struct finder *finder, const struct process_entry *lifeless)
{
    const char *similar[SIMILAR_MAX];
    struct buffer buffer;
    size_t count = 0;

    if (lifeless != NULL) {
        return error_set(finder->error, -ENOENT,
            lifeless->kernel_thread ? "cannot explain '%s': process %d is a kernel "
                                      "thread, which has no memory of its own"
                                    : "cannot explain '%s': process %d has ended and "
                                      "only waits for its parent to notice",
            finder->text, lifeless->pid);
    }
    buffer_init(&buffer);
    for (size_t i = 0; i < finder->list.count && count < SIMILAR_MAX; i++) {
        const struct process_entry *entry = &finder->list.entries[i];
        if (!entry->kernel_thread && !is_ourselves(finder, entry) &&
            is_similar(entry->name, finder->text) &&
            !is_listed(similar, count, entry->name)) {
            buffer_printf(
                &buffer, "%s'%s'", count == 0 ? "; running: " : ", ", entry->name);
            similar[count++] = entry->name;
        }
    }
    int rc = error_set(finder->error, -ENOENT,
        "cannot find '%s': no process, pool, unit, container or cgroup is called so%s",
        finder->text, buffer_text(&buffer));
    buffer_release(&buffer);
    return rc;
}

static int find(struct finder *finder)
{
    const struct process_entry *lifeless = NULL;
    uint64_t pid = 0;

    if (number_parse(finder->text, &pid) == 0 && pid > 0 && pid <= INT32_MAX) {
        int rc = find_pid(finder, (int32_t)pid);
        if (rc != -ESRCH) {
            return rc;
        }
    }
    int rc = list_processes(finder);
    if (rc != 0) {
        return rc;
    }
    if (strncmp(finder->text, POOL_PREFIX, strlen(POOL_PREFIX)) == 0) {
        return find_pool(finder, finder->text + strlen(POOL_PREFIX));
    }
    match_name(finder, &lifeless);
    if (finder->group.count > 0) {
        return take_matches(finder);
    }
    rc = find_cgroup(finder);
    return rc == -ENOENT && finder->error->code == 0 ? refuse_unknown(finder, lifeless)
                                                     : rc;
}

int target_find(struct facts_root *root, struct cgroup_reader *cgroups, const char *text,
    struct region *region, struct target *target, struct error *error)
{
    struct error own_error = {0};
    struct finder finder = {.root = root,
        .cgroups = cgroups,
        .text = text,
        .region = region,
        .target = target,
        .error = error != NULL ? error : &own_error};

    *target = (struct target){0};
    int rc = find(&finder);
    if (rc != 0) {
        error_set(finder.error, rc, "cannot find '%s': %s", text, strerrordesc_np(-rc));
    }
    return rc;
}
