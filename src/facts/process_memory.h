/* process_memory.h - what is learnt by looking into a process's memory. */
#ifndef STRATA_FACTS_PROCESS_MEMORY_H
#define STRATA_FACTS_PROCESS_MEMORY_H

#include "facts/process.h"

/*
 * Runs the readers that need the target's memory, on the mappings that are already in
 * process: which allocators, their heaps, thread stacks; then sorts the spans and drops
 * overlaps. A reader that fails leaves its part missing, with a gap. 0, -ESRCH or -ENOMEM.
 */
int process_memory_read(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process);

#endif
