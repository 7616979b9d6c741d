/*
 * host_choice.c - makes pools whole.
 *
 * The overview looks closely at the largest processes only. A pool is one row there, however
 * small each of its workers is, so whoever may belong to a pool of which one member was
 * chosen is chosen as well. In which service an unchosen process runs is not known yet: its
 * name decides, and the closer look tells. Workers of PHP-FPM are chosen whatever their size:
 * each may be among the smallest, and their pool the largest of the host.
 */
#include "facts/host_choice.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define SERVICE_SUFFIX ".service"

/* Only its title tells which pool a worker of it is of. */
#define FPM_NAME "php-fpm"

struct pid_place {
    int32_t pid;
    size_t place; /* in facts->processes */
};

/* A name that some chosen process has. */
struct chosen_name {
    const char *name;
    bool in_service;
};

struct choice {
    const struct facts *facts;
    bool *chosen;
    struct pid_place *by_pid;
    struct chosen_name *names; /* sorted, each once */
    size_t name_count;
};

static int compare_pid(const void *left, const void *right)
{
    const struct pid_place *a = left;
    const struct pid_place *b = right;

    return (a->pid > b->pid) - (a->pid < b->pid);
}

static int compare_name(const void *left, const void *right)
{
    const struct chosen_name *a = left;
    const struct chosen_name *b = right;

    return strcmp(a->name, b->name);
}

static bool is_in_service(const struct facts *facts, const struct process_facts *process)
{
    const size_t suffix_bytes = strlen(SERVICE_SUFFIX);

    if (process->cgroup_index < 0) {
        return false;
    }
    const struct cgroup_facts *cgroup = &facts->cgroups[process->cgroup_index];
    const size_t unit_bytes = cgroup->unit == NULL ? 0 : strlen(cgroup->unit);
    return cgroup->container_id != NULL ||
           (unit_bytes > suffix_bytes &&
               strcmp(cgroup->unit + unit_bytes - suffix_bytes, SERVICE_SUFFIX) == 0);
}

static void collect_names(struct choice *choice)
{
    const struct facts *facts = choice->facts;
    size_t kept = 0;
    size_t count = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        if (choice->chosen[i]) {
            choice->names[count++] =
                (struct chosen_name){.name = facts->processes[i].name,
                    .in_service = is_in_service(facts, &facts->processes[i])};
        }
    }
    if (count > 0) {
        qsort(choice->names, count, sizeof(*choice->names), compare_name);
    }
    for (size_t i = 0; i < count; i++) {
        if (kept > 0 &&
            strcmp(choice->names[kept - 1].name, choice->names[i].name) == 0) {
            choice->names[kept - 1].in_service |= choice->names[i].in_service;
        } else {
            choice->names[kept++] = choice->names[i];
        }
    }
    choice->name_count = kept;
}

static const struct chosen_name *find_name(const struct choice *choice, const char *name)
{
    const struct chosen_name key = {.name = name};

    if (choice->name_count == 0) {
        return NULL;
    }
    return bsearch(
        &key, choice->names, choice->name_count, sizeof(*choice->names), compare_name);
}

/* The place of the parent of process if it has the same name. */
static const struct pid_place *find_namesake_parent(
    const struct choice *choice, const struct process_facts *process)
{
    const struct facts *facts = choice->facts;
    const struct pid_place key = {.pid = process->parent_pid};
    const struct pid_place *parent = bsearch(
        &key, choice->by_pid, facts->process_count, sizeof(*choice->by_pid), compare_pid);

    if (parent == NULL ||
        strcmp(facts->processes[parent->place].name, process->name) != 0) {
        return NULL;
    }
    return parent;
}

static void add_relatives(struct choice *choice)
{
    const struct facts *facts = choice->facts;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        const struct chosen_name *name = find_name(choice, process->name);
        if (strncmp(process->name, FPM_NAME, strlen(FPM_NAME)) == 0) {
            choice->chosen[i] = true;
        }
        if (name == NULL) {
            continue;
        }
        const struct pid_place *parent = find_namesake_parent(choice, process);
        if (parent != NULL) {
            choice->chosen[i] = true;
            choice->chosen[parent->place] = true;
        } else if (name->in_service) {
            choice->chosen[i] = true;
        }
    }
}

int host_choice_add_relatives(
    const struct facts *facts, struct region *region, bool *chosen)
{
    struct choice choice = {.facts = facts};

    choice.chosen = chosen;
    if (facts->process_count == 0) {
        return 0;
    }
    choice.by_pid = region_alloc(region, facts->process_count * sizeof(*choice.by_pid));
    choice.names = region_alloc(region, facts->process_count * sizeof(*choice.names));
    if (choice.by_pid == NULL || choice.names == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < facts->process_count; i++) {
        choice.by_pid[i] = (struct pid_place){.pid = facts->processes[i].pid, .place = i};
    }
    qsort(choice.by_pid, facts->process_count, sizeof(*choice.by_pid), compare_pid);
    collect_names(&choice);
    add_relatives(&choice);
    return 0;
}
