/*
 * workers.c - leaves of the tree of processes.
 *
 * Holds for a master with workers (FPM, nginx, gunicorn), for a manager between
 * them (Swoole) and for a supervisor in another language (RoadRunner). Pids are sorted first, so
 * that a hostile number of members is no square of work.
 */
#include "model/workers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

static int compare_pids(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;

    return left < right ? -1 : left > right;
}

/* Pids in order, so that a hostile number of members is no square of work. */
struct pid_set {
    int32_t *items;
    size_t count;
};

static bool pid_set_has(const struct pid_set *set, int32_t pid)
{
    return bsearch(&pid, set->items, set->count, sizeof(pid), compare_pids) != NULL;
}

static void pid_set_sort(struct pid_set *set)
{
    qsort(set->items, set->count, sizeof(*set->items), compare_pids);
}

/* The pid that stands most often in a sorted set; -1 for none. */
static int32_t most_frequent(const struct pid_set *set)
{
    int32_t best = -1;
    size_t best_run = 0;
    size_t run = 0;

    for (size_t i = 0; i < set->count; i++) {
        run = i > 0 && set->items[i] == set->items[i - 1] ? run + 1 : 1;
        if (run > best_run) {
            best_run = run;
            best = set->items[i];
        }
    }
    return best;
}

/* Leaves of the tree of processes; a lone process is its own worker. */
static bool is_leaf(const struct process_facts *process, const struct pid_set *members,
    const struct pid_set *parents)
{
    return !pid_set_has(parents, process->pid) &&
           (members->count == 1 || pid_set_has(members, process->parent_pid));
}

int workers_find(
    struct region *region, const struct facts *facts, struct workers *workers)
{
    const size_t count = facts->process_count;
    struct pid_set members = {region_alloc(region, (count + 1) * sizeof(int32_t)), count};
    struct pid_set parents = {region_alloc(region, (count + 1) * sizeof(int32_t)), count};
    struct pid_set of_leaves = {region_alloc(region, (count + 1) * sizeof(int32_t)), 0};

    *workers = (struct workers){
        .indices = region_alloc(region, (count + 1) * sizeof(*workers->indices))};
    if (members.items == NULL || parents.items == NULL || of_leaves.items == NULL ||
        workers->indices == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        members.items[i] = facts->processes[i].pid;
        parents.items[i] = facts->processes[i].parent_pid;
    }
    pid_set_sort(&members);
    pid_set_sort(&parents);
    for (size_t i = 0; i < count; i++) {
        const struct process_facts *process = &facts->processes[i];
        if (is_leaf(process, &members, &parents)) {
            of_leaves.items[of_leaves.count++] = process->parent_pid;
        }
    }
    pid_set_sort(&of_leaves);
    const int32_t parent = most_frequent(&of_leaves);
    for (size_t i = 0; of_leaves.count > 0 && i < count; i++) {
        const struct process_facts *process = &facts->processes[i];
        if (process->parent_pid == parent && is_leaf(process, &members, &parents)) {
            workers->indices[workers->count++] = i;
        }
    }
    return 0;
}
