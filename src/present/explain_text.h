/* explain_text.h - `strata explain` for people. */
#ifndef STRATA_PRESENT_EXPLAIN_TEXT_H
#define STRATA_PRESENT_EXPLAIN_TEXT_H

#include "base/buffer.h"
#include "findings/finding.h"
#include "findings/since.h"
#include "model/snapshot.h"
#include "present/style.h"

/* What the page says beyond its target's facts; NULL or zeroed: nothing. */
struct explain_past {
    const struct since *since; /* an earlier look to compare with; NULL: none */
    const char *kept;          /* a few words on the look that was kept; NULL: none was */
};

/*
 * Appends the account of one target: who it is, its layers with the gap between each pair,
 * what the resident layer consists of, its arenas, its container's figures, the findings,
 * what is missing, and what the reading cost. Pure; memory that ran short shows in
 * buffer_error().
 */
void present_explain_text(const struct snapshot *snapshot,
    const struct finding_list *list, const struct explain_past *past,
    const struct present_style *style, struct buffer *buffer);

#endif
