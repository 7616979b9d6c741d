/* heap_strata_copy.h - one moment of strata's statistics region. */
#ifndef STRATA_FACTS_HEAP_STRATA_COPY_H
#define STRATA_FACTS_HEAP_STRATA_COPY_H

#include <stdbool.h>

#include "facts/heap_strata_source.h"

struct strata_region;

/*
 * The last two copies that were taken, zeroes where the region is not used. When settled, both
 * are equal and no group was being written: they are one moment.
 */
struct heap_strata_copy {
    struct strata_region *last;
    struct strata_region *before;
    bool settled;
};

/*
 * Copies until two copies agree, or a number of tries is over. 0; -EINVAL: its counts
 * cannot be what they claim to be; -EPROTO: a version that this reader does not know; -ENOMEM;
 * or -errno. Release with heap_strata_copy_release() in any case.
 */
int heap_strata_copy_take(
    struct heap_strata_source *source, struct heap_strata_copy *copy);
void heap_strata_copy_release(struct heap_strata_copy *copy);

#endif
