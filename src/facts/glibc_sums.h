/* glibc_sums.h - the sums of a walk become the figures of an arena. */
#ifndef STRATA_FACTS_GLIBC_SUMS_H
#define STRATA_FACTS_GLIBC_SUMS_H

#include "facts/glibc_walk.h"

/*
 * The resident pages of the extent's top, its ends and, for a main arena, what cutting it gives, where
 * [top_start, end of the extent) will be its top; nothing for an extent without top.
 * thp_pagesize_bytes is the parameter of that name, 0 without one. 0 or -errno.
 */
int glibc_sums_add_top(const struct glibc_walk *walk, const struct glibc_extent *extent,
    uint64_t thp_pagesize_bytes, uint64_t top_start, struct glibc_arena *sums);

/* When all extents were walked: in_use_bytes held all of them, and loses what is free. */
void glibc_sums_close(const struct glibc_walk *walk, struct glibc_arena *sums);

#endif
