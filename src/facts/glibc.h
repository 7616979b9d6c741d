/* glibc.h - reads glibc malloc in another process. */
#ifndef STRATA_FACTS_GLIBC_H
#define STRATA_FACTS_GLIBC_H

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/*
 * Fills process->glibc from memory and adds the heaps, and the blocks taken by mmap, to
 * its spans (unsorted: span_list_settle() when all readers have run). Needs the mappings and
 * the executable's path in process. Takes memory for the facts from region. What is
 * missing or does not fit is a state in the facts: glibc.state is absent when glibc malloc
 * never ran there. 0; -ENOMEM; or -errno when the target can no longer be read (-ESRCH:
 * it ended).
 */
int glibc_read(
    struct memory *memory, struct region *region, struct process_facts *process);

#endif
