/* overview.h - the rows of the overview of a host, and their order. */
#ifndef STRATA_PRESENT_OVERVIEW_H
#define STRATA_PRESENT_OVERVIEW_H

#include <stddef.h>

#include "findings/finding.h"
#include "model/snapshot.h"

/* One process or pool. */
struct overview_row {
    struct snapshot snapshot;
    struct finding_list list;
};

/* host: all processes as they were read, with the gaps and the cost. */
struct overview {
    const struct facts *host;
    struct overview_row *rows;
    size_t count;
};

/* Largest resident layer first; what has none comes last; equal ones by name and pid. */
void overview_sort(struct overview *overview);

#endif
