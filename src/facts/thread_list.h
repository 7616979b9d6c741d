/* thread_list.h - the threads of a process, by both of their numbers. */
#ifndef STRATA_FACTS_THREAD_LIST_H
#define STRATA_FACTS_THREAD_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/process_folder.h"

/* own_id is what the thread knows itself by: another number inside a pid namespace. */
struct thread_ids {
    int32_t own_id;
    int32_t id;
};

struct thread_list {
    struct thread_ids *threads; /* sorted by own_id */
    size_t count;
};

/*
 * Lists /proc/PID/task. namespaced says that the process's own pid differs from ours, so
 * that each thread's status must be read too. 0, -ESRCH, -ENOMEM or -errno.
 */
int thread_list_read(struct process_folder *folder, bool namespaced,
    struct region *region, struct thread_list *list);

/* The thread that calls itself own_id, or NULL. */
const struct thread_ids *thread_list_find(const struct thread_list *list, int32_t own_id);

#endif
