/* environment.h - the settings of allocators in a process's environment, and no others. */
#ifndef STRATA_FACTS_ENVIRONMENT_H
#define STRATA_FACTS_ENVIRONMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/region.h"
#include "facts/process_folder.h"
#include "facts_types/process_facts.h"

/* True for a name on the fixed list; every other variable is never kept. */
bool environment_is_setting(const char *name, size_t bytes);

/*
 * Keeps from the text of /proc/PID/environ (NAME=value, NUL, ...) the variables on the list.
 * 0 or -ENOMEM.
 */
int environment_parse(
    const char *text, size_t bytes, struct region *region, struct process_facts *process);

/*
 * Reads the file and fills environment, environment_count and environment_state. It shows
 * the environment the program was started with; later setenv() calls are not in it. 0 or
 * -errno.
 */
int environment_read(
    struct process_folder *folder, struct region *region, struct process_facts *process);

#endif
