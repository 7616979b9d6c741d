/* process_layers.h - all layers of one process. */
#ifndef STRATA_MODEL_PROCESS_LAYERS_H
#define STRATA_MODEL_PROCESS_LAYERS_H

#include <stdbool.h>

#include "base/region.h"
#include "model/heap_layers.h"
#include "model/partition.h"
#include "model/snapshot.h"

/* What a group adds up over its members. */
struct process_sums {
    struct heap_amounts heap;
    struct partition partition;
    bool partitioned; /* partition is filled: the mappings carried values */
};

/*
 * Fills every layer of view, whose facts are set. sums gets the amounts behind them.
 * scratch is used and may be released afterwards. 0 or -ENOMEM.
 */
int process_layers_build(struct region *region, struct region *scratch,
    const struct facts *facts, struct process_view *view, struct process_sums *sums);

#endif
