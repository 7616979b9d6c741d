/* heap_strata.h - strata's own malloc replacement, by the region that it shows its figures in. */
#ifndef STRATA_FACTS_HEAP_STRATA_H
#define STRATA_FACTS_HEAP_STRATA_H

#include "base/region.h"
#include "facts/memory.h"
#include "facts/process_folder.h"
#include "facts_types/process_facts.h"

/*
 * Fills process->strata and appends spans of its memory. The figures need no right to read
 * the process's memory, where the region is shared with this user; memory is NULL when
 * there is no such right, and then what is resident is denied. folder NULL: segments of
 * shared memory are not looked for. Needs mappings where they can be had. Nothing is stopped or
 * changed in the target. 0, -ESRCH, or -ENOMEM; all else is a state of process->strata.
 */
int heap_strata_read(struct process_folder *folder, struct memory *memory,
    struct region *region, struct process_facts *process);

#endif
