/* process_list.h - all processes, with what is needed to tell which one is meant. */
#ifndef STRATA_FACTS_PROCESS_LIST_H
#define STRATA_FACTS_PROCESS_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/root.h"

/* Ascending. */
struct pid_list {
    int32_t *pids;
    size_t count;
};

/* The numbers in /proc. 0, -ENOMEM, or -errno. */
int pid_list_read(struct facts_root *root, struct region *region, struct pid_list *list);

/*
 * A number that changes when a process starts or ends, unless another took its pid since:
 * made from the numbers in /proc alone. 0, -ENOMEM, or -errno.
 */
int process_list_fingerprint(struct facts_root *root, uint64_t *fingerprint);

struct process_entry {
    int32_t pid;
    int32_t parent_pid;
    uint64_t start_time_ticks;
    uint64_t resident_pages; /* may lag */
    bool kernel_thread;
    char run_state;
    char *name;       /* comm */
    char *executable; /* NULL: not readable */
    char *title;      /* NULL: none */
    char *cgroup;     /* the path which names its unit or container; NULL: not known */
};

struct process_list {
    struct process_entry *entries; /* ascending by pid */
    size_t count;
};

/* All that are there; one that ends meanwhile is left out. 0, -EFBIG, -ENOMEM, or -errno. */
int process_list_read(
    struct facts_root *root, struct region *region, struct process_list *list);

/* The entry of pid, or NULL. */
const struct process_entry *process_list_find(
    const struct process_list *list, int32_t pid);

/* True when ancestor is the parent of pid, or the parent's parent, and so on. */
bool process_list_descends(
    const struct process_list *list, int32_t pid, int32_t ancestor);

#endif
