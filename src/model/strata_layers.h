/* strata_layers.h - what strata's own malloc adds to the layers of a process. */
#ifndef STRATA_MODEL_STRATA_LAYERS_H
#define STRATA_MODEL_STRATA_LAYERS_H

#include <stdbool.h>

#include "base/region.h"
#include "facts_types/process_facts.h"
#include "model/heap_layers.h"

/*
 * Adds held, in use, free and never touched to amounts. Blocks that CPUs keep are free here, as
 * nobody uses them. False when the process has no figures of strata's malloc.
 */
bool strata_layers_add(const struct process_facts *process, struct heap_amounts *amounts);

/* Where these figures come from. NULL: no memory. */
const char *strata_layers_source(
    struct region *region, const struct process_facts *process);

/* Divides what is resident of its regions into in use, kept by CPUs and free. */
void strata_layers_split(const struct process_facts *process, struct amounts *resident);

#endif
