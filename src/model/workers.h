/* workers.h - which members of a group do the work, and which stand beside them. */
#ifndef STRATA_MODEL_WORKERS_H
#define STRATA_MODEL_WORKERS_H

#include <stddef.h>

#include "base/region.h"
#include "facts_types/facts.h"

/* Indices into facts->processes, ascending. */
struct workers {
    size_t *indices;
    size_t count;
};

/*
 * The largest set of members that have the same parent, a member as well, and no children
 * among the members; a lone process is its own worker. Pure. 0 or -ENOMEM.
 */
int workers_find(
    struct region *region, const struct facts *facts, struct workers *workers);

#endif
