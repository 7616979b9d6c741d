/* ladder_text.h - the layers of a target from the application down to the bill. */
#ifndef STRATA_PRESENT_LADDER_TEXT_H
#define STRATA_PRESENT_LADDER_TEXT_H

#include "model/snapshot.h"
#include "present/page.h"

/* The layers with a bar each, and between each pair the signed gap with its name. */
void ladder_text(struct page *page, const struct snapshot *snapshot);

/* What the resident layer consists of, largest first, and the residual. */
void resident_text(struct page *page, const struct snapshot *snapshot);

#endif
