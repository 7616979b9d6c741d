/* gap_text.h - what could not be read, why, and what would give it. */
#ifndef STRATA_PRESENT_GAP_TEXT_H
#define STRATA_PRESENT_GAP_TEXT_H

#include "facts_types/facts.h"
#include "present/page.h"

/* One entry for each reason, with the facts and the number of processes it takes away. */
void gap_text(struct page *page, const struct facts *facts);

/* The same without what is absent: what does not exist, or was not read by choice. */
void gap_text_mendable(struct page *page, const struct facts *facts);

/* How many facts are missing, and the cause of the most telling one. Nothing when none is. */
void gap_line(struct page *page, const struct facts *facts);

#endif
