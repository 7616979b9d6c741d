/* heap_layers.h - the allocator's layers of one process: in use, held, free, untouched. */
#ifndef STRATA_MODEL_HEAP_LAYERS_H
#define STRATA_MODEL_HEAP_LAYERS_H

#include "base/region.h"
#include "model/amounts.h"
#include "model/snapshot.h"

/* The amounts behind the layers, kept so that a group can add them up. */
struct heap_amounts {
    struct amounts tracked; /* by the application itself: PHP */
    struct amounts in_use;
    struct amounts held;
    struct amounts free_resident;
    struct amounts never_touched;
};

/*
 * Fills LAYER_IN_USE, LAYER_HELD, LAYER_FREE_RESIDENT and LAYER_NEVER_TOUCHED of view from
 * its glibc facts, and amounts with the numbers behind those that are known. A layer
 * which cannot be known says why. 0 or -ENOMEM.
 */
int heap_layers_build(
    struct region *region, struct process_view *view, struct heap_amounts *amounts);

#endif
