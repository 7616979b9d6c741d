/* heap_strata_places.h - where the memory of strata's malloc lies, and what is resident. */
#ifndef STRATA_FACTS_HEAP_STRATA_PLACES_H
#define STRATA_FACTS_HEAP_STRATA_PLACES_H

#include "base/region.h"
#include "facts/heap_strata_source.h"
#include "facts_types/process_facts.h"

/*
 * Appends spans of all places that the directory behind the region names, and fills the
 * residency of process->strata, whose figures are there already. What cannot be
 * read is told by its states. 0, -ESRCH or -ENOMEM.
 */
int heap_strata_places_read(const struct heap_strata_source *source,
    struct region *region, struct process_facts *process);

#endif
