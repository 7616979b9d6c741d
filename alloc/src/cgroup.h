/*
 * What the cgroup of this process allows, of both versions: read once at the start, with
 * system calls only and no memory but the stack's.
 */
#ifndef STRATA_CGROUP_H
#define STRATA_CGROUP_H

#include <stddef.h>

#define STRATA__CGROUP_PATH_MAX 512

enum strata__cgroup_controller { STRATA__CGROUP_MEMORY, STRATA__CGROUP_CPU };

/* The folder of this process's cgroup. Version 1 or 2, or 0 when there is none to be
 * found. `system` is the folder that proc and sys lie in, "" in earnest. */
int strata__cgroup_folder(const char *system, enum strata__cgroup_controller controller,
    char path[STRATA__CGROUP_PATH_MAX]);

/* path becomes folder/name; cut when it does not fit, so that it names no file. */
void strata__cgroup_file(
    const char *folder, const char *name, char path[STRATA__CGROUP_PATH_MAX]);

/* The lowest limit on memory from here up to the root; 0: none. */
size_t strata__cgroup_memory_limit(const char *system);
/* How many CPUs the quota is worth, rounded up; 0: no quota. */
size_t strata__cgroup_cpus(const char *system);

#endif
