/* heap_strata_figures.h - what a copy of strata's statistics region says. Pure. */
#ifndef STRATA_FACTS_HEAP_STRATA_FIGURES_H
#define STRATA_FACTS_HEAP_STRATA_FIGURES_H

#include "base/region.h"
#include "facts_types/strata_facts.h"

struct strata_region;

/*
 * Fills the figures of facts, without residency, from one copy whose counts have been
 * checked. 0; -EINVAL: the numbers contradict each other; or -ENOMEM.
 */
int heap_strata_figures(
    const struct strata_region *copy, struct region *region, struct strata_facts *facts);

/* The same for the sums only, into sums: what two copies of a moving heap are compared by. */
int heap_strata_sums(const struct strata_region *copy, struct strata_facts *sums);

#endif
