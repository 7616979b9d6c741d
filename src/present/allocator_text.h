/* allocator_text.h - the arenas of glibc malloc as one table. */
#ifndef STRATA_PRESENT_ALLOCATOR_TEXT_H
#define STRATA_PRESENT_ALLOCATOR_TEXT_H

#include "model/snapshot.h"
#include "present/page.h"

/*
 * One row each for the arenas, the blocks that malloc mapped singly, and the total;
 * for a group of processes one total row for each member. Then what the
 * caches of threads hide and which settings were found. Nothing when no glibc was read.
 */
void allocator_text(struct page *page, const struct snapshot *snapshot);

#endif
