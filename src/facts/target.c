/*
 * target.c - from what was typed to the processes that are meant.
 *
 * A pid is looked up by opening its folder, so that what is named here is the process that
 * was there at that moment.
 */
#include "facts/target.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "facts/process_folder.h"
#include "facts/process_list.h"
#include "facts/process_name.h"

static int take_pid(int32_t pid, struct region *region, struct target *target)
{
    target->pids = region_alloc(region, sizeof(*target->pids));
    if (target->pids == NULL) {
        return -ENOMEM;
    }
    target->pids[0] = pid;
    target->count = 1;
    target->kind = TARGET_PROCESS;
    return 0;
}

static int find_pid(struct facts_root *root, const char *text, struct region *region,
    struct target *target, struct error *error)
{
    struct process_folder folder;
    uint64_t pid;

    if (number_parse(text, &pid) != 0 || pid == 0 || pid > INT32_MAX) {
        return error_set(
            error, -ENOENT, "cannot find '%s': it is not a number of a process", text);
    }
    int rc = process_folder_open(root, (int32_t)pid, &folder);
    if (rc != 0) {
        return error_set(error, rc == -ESRCH ? -ENOENT : rc,
            "cannot find process %llu: there is none with that number",
            (unsigned long long)pid);
    }
    target->name = region_copy_text(region, folder.stat.name);
    process_folder_close(&folder);
    return target->name == NULL ? -ENOMEM : take_pid((int32_t)pid, region, target);
}

int target_find(struct facts_root *root, struct cgroup_reader *cgroups, const char *text,
    struct region *region, struct target *target, struct error *error)
{
    (void)cgroups;
    *target = (struct target){0};
    return find_pid(root, text, region, target, error);
}
