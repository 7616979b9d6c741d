/* cgroup.h - finds the memory cgroup of a process and reads what it is charged for. */
#ifndef STRATA_FACTS_CGROUP_H
#define STRATA_FACTS_CGROUP_H

#include <stdint.h>

#include "facts/cgroup_reader.h"
#include "facts_types/facts.h"

/*
 * Reads the cgroup of the process whose /proc folder is open as process_fd, unless
 * facts->cgroups has it already, and stores its place there. What is missing is said in
 * that cgroup's state and why. *index is -1 when the process's cgroup file could not be
 * read. 0, -ENOMEM, or -errno of that file (-ESRCH: the process ended).
 */
int cgroup_read_process(
    struct cgroup_reader *reader, int process_fd, struct facts *facts, int32_t *index);

/* The same for a path as in /proc/PID/cgroup. 0, -ENOMEM, or -EINVAL: no such path. */
int cgroup_read_path(
    struct cgroup_reader *reader, const char *path, struct facts *facts, int32_t *index);

#endif
