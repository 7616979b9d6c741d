/* arena_cap.h - what fewer arenas would save, from one look at the arenas there are. */
#ifndef STRATA_FINDINGS_ARENA_CAP_H
#define STRATA_FINDINGS_ARENA_CAP_H

#include <stddef.h>
#include <stdint.h>

#include "facts_types/glibc_facts.h"

struct arena_cap_estimate {
    size_t arenas;           /* with a count of their own free memory */
    uint64_t retained_bytes; /* resident in them beyond the blocks in use */
    double even_arenas;      /* how many equal arenas would retain as unevenly */
    uint64_t low_bytes;      /* saved at least */
    uint64_t high_bytes;     /* saved at most */
};

/* The square-root law: which share of the reserves of n equal arenas cap arenas keep. */
double arena_cap_kept_share(size_t cap, double even_arenas);

/*
 * What a cap of `cap` arenas would take off the free and resident memory of glibc's
 * arenas once the same load has passed again. The reasoning is in arena_cap.c and
 * docs/decisions/004-what-an-arena-cap-saves.md. All zero when there are no more than
 * cap arenas that retain anything.
 */
struct arena_cap_estimate arena_cap_estimate_of(
    const struct glibc_facts *glibc, size_t cap);

#endif
