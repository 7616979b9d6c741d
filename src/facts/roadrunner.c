/*
 * roadrunner.c - workers of RoadRunner, told by their environment.
 *
 * The server starts each worker with fork and exec, so it is another program in another
 * address space: only parenthood and RR_MODE, which the server sets (http, jobs, grpc,
 * temporal, tcp, centrifuge), tell that they belong together. A shell may stand between
 * the two. The environment holds secrets; environment.c lets RR_MODE through and not, for
 * example, RR_RELAY. No state; what is read is freed before each function returns.
 */
#include "facts/roadrunner.h"

#include <errno.h>
#include <string.h>

#include "facts/environment.h"
#include "facts/process_folder.h"

enum { SCRATCH_BYTES = 1 << 20, ANCESTORS_MAX = 64 };

static const char mode_name[] = "RR_MODE";

static bool is_named(const struct process_entry *entry)
{
    return strcmp(entry->name, ROADRUNNER_NAME) == 0;
}

/* The nearest ancestor that is a server, or NULL. */
static const struct process_entry *server_of(
    const struct process_list *list, const struct process_entry *entry)
{
    for (int i = 0; i < ANCESTORS_MAX && entry != NULL && entry->parent_pid > 0; i++) {
        entry = process_list_find(list, entry->parent_pid);
        if (entry != NULL && is_named(entry)) {
            return entry;
        }
    }
    return NULL;
}

/* Whether RR_MODE is set, and to mode when that is not NULL. */
static bool has_mode(const struct process_facts *process, const char *mode)
{
    for (size_t i = 0; i < process->environment_count; i++) {
        const struct environment_facts *setting = &process->environment[i];
        if (strcmp(setting->name, mode_name) == 0) {
            return mode == NULL || strcmp(setting->value, mode) == 0;
        }
    }
    return false;
}

/* 1: a worker, of that mode if one is given; 0: none; -ENOMEM. */
static int is_worker(struct facts_root *root, const struct process_list *list,
    const struct process_entry *entry, const char *mode)
{
    const struct process_entry *server = server_of(list, entry);
    struct process_folder folder;
    struct process_facts process = {.pid = entry->pid};
    struct region scratch;

    if (server == NULL || is_named(entry) || entry->run_state == 'Z' ||
        process_folder_open(root, entry->pid, &folder) != 0) {
        return 0;
    }
    region_init(&scratch, SCRATCH_BYTES);
    int rc = environment_read(&folder, &scratch, &process);
    process_folder_close(&folder);
    int worker = has_mode(&process, mode);
    if (process.environment_state == FACT_DENIED) {
        worker = mode == NULL && entry->parent_pid == server->pid;
    }
    region_release(&scratch);
    return rc == -ENOMEM ? rc : worker;
}

static bool is_in(const struct target_group *group, const struct process_entry *entry)
{
    for (size_t i = 0; i < group->count; i++) {
        if (group->entries[i] == entry) {
            return true;
        }
    }
    return false;
}

bool roadrunner_is_server(const struct target_group *group)
{
    for (size_t i = 0; i < group->count; i++) {
        if (!is_named(group->entries[i])) {
            return false;
        }
    }
    return group->count > 0;
}

int roadrunner_add_workers(struct facts_root *root, struct target_group *group)
{
    const struct process_list *list = group->list;
    const struct target_group servers = {
        .list = list, .entries = group->entries, .count = group->count};

    for (size_t i = 0; i < list->count; i++) {
        const struct process_entry *entry = &list->entries[i];
        const struct process_entry *server = server_of(list, entry);
        if (server == NULL || !is_in(&servers, server)) {
            continue;
        }
        int rc = is_worker(root, list, entry, NULL);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            group->entries[group->count++] = entry;
        }
    }
    return 0;
}

int roadrunner_find(struct facts_root *root, const char *mode, struct target_group *group,
    size_t *servers)
{
    const struct process_list *list = group->list;

    *servers = 0;
    for (size_t i = 0; i < list->count; i++) {
        int rc = is_worker(root, list, &list->entries[i], mode);
        if (rc < 0) {
            return rc;
        }
        if (rc > 0) {
            group->entries[group->count++] = &list->entries[i];
        }
    }
    for (size_t i = 0, workers = group->count; i < workers; i++) {
        const struct process_entry *server = server_of(list, group->entries[i]);
        if (server != NULL && !is_in(group, server)) {
            group->entries[group->count++] = server;
            ++*servers;
        }
    }
    return 0;
}
