/* target_group.h - do processes that answer to one name belong to one service? */
#ifndef STRATA_FACTS_TARGET_GROUP_H
#define STRATA_FACTS_TARGET_GROUP_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "facts/process_list.h"

/* Entries of list, ascending by pid until target_group_sort(). */
struct target_group {
    const struct process_list *list;
    const struct process_entry **entries;
    size_t count;
};

/* By their executables, or by their names where one of those cannot be read. */
bool target_group_same_program(
    const struct process_entry *a, const struct process_entry *b);

/*
 * True when they run one program and either one of them is the ancestor of all others, or
 * all are in the same systemd service or container.
 */
bool target_group_is_service(const struct target_group *group);

/*
 * The group as text for an error: each process that has no ancestor in the group, with how
 * many descend from it, what they have resident together, where it runs and its title, one on
 * each line: "\n  812 nginx, 5 processes, 31.2 MiB, nginx.service: nginx: master process".
 */
void target_group_describe(const struct target_group *group, struct buffer *buffer);

/* Ascending by pid again, after entries were added. */
void target_group_sort_by_pid(struct target_group *group);

/* Sorts by start time, so that parents stand before their children. */
void target_group_sort(struct target_group *group);

#endif
