/* change_text.h - the lines to change, what they give back, how to check it. */
#ifndef STRATA_PRESENT_CHANGE_TEXT_H
#define STRATA_PRESENT_CHANGE_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/quantity.h"
#include "facts_types/facts.h"
#include "findings/advice.h"
#include "findings/finding.h"
#include "present/page.h"

enum { CHANGE_MAX = ADVICE_MAX + 2 };

/* The findings to act on, most urgent first; points into the list. */
struct changes {
    const struct finding *items[CHANGE_MAX];
    size_t count;
    struct advice advice; /* those of them that give memory back */
};

/*
 * The first that is critical and has lines to paste, then the advice; when there is neither, the
 * first warning with such lines.
 */
void changes_of(const struct finding_list *list, struct changes *changes);

bool changes_have(const struct changes *changes, const struct finding *finding);

/*
 * "What to change": each of them in a sentence, all their lines, those for the same place
 * together, then how to check. facts: what may be missing when there is nothing to change.
 */
void change_text(
    struct page *page, const struct changes *changes, const struct facts *facts);

/* "330.0-370.0 MiB (likely)" of what they give back together; nothing: "". */
void changes_range(
    const struct changes *changes, bool exact, char text[QUANTITY_TEXT_BYTES * 2]);

#endif
