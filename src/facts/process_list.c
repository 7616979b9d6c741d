/*
 * process_list.c - one look at every process, for finding targets.
 *
 * The list is a moment's view: parents end and pids are reused between two looks. Chains
 * of parents are followed for a bounded number of steps, since such a view may hold a ring.
 */
#include "facts/process_list.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/cgroup_lines.h"
#include "facts/process_folder.h"
#include "facts/process_name.h"
#include "facts_types/facts.h"

enum {
    PARENTS_MAX = 1024,
    CGROUP_MAX_BYTES = 64 << 10,
    FINGERPRINT_MAX_BYTES = 64 << 20
};

static int compare_pids(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;

    return (a > b) - (a < b);
}

static int add_pid(struct region *region, const char *name, struct pid_list *list)
{
    uint64_t pid;

    if (number_parse(name, &pid) != 0 || pid == 0 || pid > INT32_MAX) {
        return 0; /* one of the other files there */
    }
    if (list->count >= FACTS_MAX_PROCESSES) {
        return -EFBIG;
    }
    int32_t *place = region_grow(
        region, &list->pids, list->count, FACTS_MAX_PROCESSES, sizeof(*place));
    if (place == NULL) {
        return -ENOMEM;
    }
    *place = (int32_t)pid;
    list->count++;
    return 0;
}

int pid_list_read(struct facts_root *root, struct region *region, struct pid_list *list)
{
    struct dirent *entry;
    int rc = 0;

    *list = (struct pid_list){0};
    int fd = openat(root->proc_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    DIR *folder = fdopendir(fd);
    if (folder == NULL) {
        rc = -errno;
        close(fd);
        return rc;
    }
    while (rc == 0 && (entry = readdir(folder)) != NULL) {
        rc = add_pid(region, entry->d_name, list);
    }
    closedir(folder);
    if (list->count > 0) {
        qsort(list->pids, list->count, sizeof(*list->pids), compare_pids);
    }
    return rc;
}

int process_list_fingerprint(struct facts_root *root, uint64_t *fingerprint)
{
    const uint64_t factor = UINT64_C(0x100000001b3); /* FNV-1a, 64 bits */
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    struct region region;
    struct pid_list list;

    region_init(&region, FINGERPRINT_MAX_BYTES);
    int rc = pid_list_read(root, &region, &list);
    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        hash = (hash ^ (uint32_t)list.pids[i]) * factor;
    }
    region_release(&region);
    if (rc == 0) {
        *fingerprint = hash;
    }
    return rc;
}

/* The path that tells most: systemd's own hierarchy, where there is one, names the unit. */
static char *telling_path(const struct cgroup_lines *lines)
{
    char *const paths[] = {lines->systemd, lines->unified, lines->memory};
    char *path = NULL;

    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        if (paths[i] != NULL && (path == NULL || strcmp(path, "/") == 0)) {
            path = paths[i];
        }
    }
    return path;
}

static int read_cgroup(
    struct process_folder *folder, struct region *region, struct process_entry *entry)
{
    struct cgroup_lines lines;
    struct buffer buffer;
    int rc = 0;

    buffer_init(&buffer);
    if (process_folder_read(folder, "cgroup", CGROUP_MAX_BYTES, &buffer) == 0) {
        rc = cgroup_lines_parse(buffer_text(&buffer), region, &lines);
        if (rc == 0) {
            entry->cgroup = telling_path(&lines);
        }
    }
    buffer_release(&buffer);
    return rc;
}

static int read_entry(
    struct process_folder *folder, struct region *region, struct process_entry *entry)
{
    const struct process_stat *stat = &folder->stat;
    bool deleted;

    *entry = (struct process_entry){.pid = folder->pid,
        .parent_pid = stat->parent_pid,
        .start_time_ticks = stat->start_time_ticks,
        .resident_pages = stat->resident_pages,
        .kernel_thread = stat->kernel_thread,
        .run_state = stat->run_state,
        .name = region_copy_text(region, stat->name)};
    if (entry->name == NULL) {
        return -ENOMEM;
    }
    if (stat->kernel_thread) {
        return 0;
    }
    int rc = process_title_read(folder, region, &entry->title);
    if (rc == 0) {
        rc = process_executable_read(folder, region, &entry->executable, &deleted);
    }
    return rc == 0 ? read_cgroup(folder, region, entry) : rc;
}

int process_list_read(
    struct facts_root *root, struct region *region, struct process_list *list)
{
    struct process_folder folder;
    struct pid_list pids;

    *list = (struct process_list){0};
    int rc = pid_list_read(root, region, &pids);
    if (rc != 0 || pids.count == 0) {
        return rc;
    }
    list->entries = region_alloc(region, pids.count * sizeof(*list->entries));
    if (list->entries == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < pids.count; i++) {
        if (process_folder_open(root, pids.pids[i], &folder) != 0) {
            continue;
        }
        rc = read_entry(&folder, region, &list->entries[list->count]);
        process_folder_close(&folder);
        if (rc == -ENOMEM) {
            return rc;
        }
        list->count += rc == 0;
    }
    return 0;
}

static int compare_entry(const void *key, const void *item)
{
    const int32_t pid = *(const int32_t *)key;
    const struct process_entry *entry = item;

    return (pid > entry->pid) - (pid < entry->pid);
}

const struct process_entry *process_list_find(
    const struct process_list *list, int32_t pid)
{
    if (list->count == 0) {
        return NULL;
    }
    return bsearch(
        &pid, list->entries, list->count, sizeof(*list->entries), compare_entry);
}

bool process_list_descends(const struct process_list *list, int32_t pid, int32_t ancestor)
{
    for (int steps = 0; steps < PARENTS_MAX && pid > 0; steps++) {
        const struct process_entry *entry = process_list_find(list, pid);
        if (entry == NULL) {
            return false;
        }
        pid = entry->parent_pid;
        if (pid == ancestor) {
            return true;
        }
    }
    return false;
}
