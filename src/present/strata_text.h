/* strata_text.h - the figures of strata's malloc as a table. */
#ifndef STRATA_PRESENT_STRATA_TEXT_H
#define STRATA_PRESENT_STRATA_TEXT_H

#include "model/snapshot.h"
#include "present/page.h"

/*
 * Rows by kind of memory, the classes of small blocks, the total; then what
 * rounding costs, peaks, the limit, and what threads hold under their tags. Nothing when no
 * member's figures were read.
 */
void strata_text(struct page *page, const struct snapshot *snapshot);

#endif
