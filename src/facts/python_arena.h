/* python_arena.h - arenas of CPython's own allocator for small objects. */
#ifndef STRATA_FACTS_PYTHON_ARENA_H
#define STRATA_FACTS_PYTHON_ARENA_H

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/*
 * Looks for arenas in a process that has Python mapped and adds each to its spans, index
 * being the arena's own. Other processes are left alone. 0, -ENOMEM, or -errno of the
 * memory.
 */
int python_arena_read(
    struct memory *memory, struct region *region, struct process_facts *process);

#endif
