/* finding_text.h - findings for people: what, why, what it gives back, what to change. */
#ifndef STRATA_PRESENT_FINDING_TEXT_H
#define STRATA_PRESENT_FINDING_TEXT_H

#include "findings/finding.h"
#include "present/change_text.h"
#include "present/page.h"

/*
 * Every finding with its rule, sentence, prediction, evidence, reasoning, lines to paste and how to
 * verify. Says so when there is none. facts: whether a finding must name its member.
 */
void finding_text(
    struct page *page, const struct finding_list *list, const struct facts *facts);

/*
 * Those that are not to be acted upon, one line each, at most so many: what the change would give
 * back, the rule, what it finds. Nothing when there are none.
 */
void finding_lines(struct page *page, const struct finding_list *list,
    const struct changes *changes, size_t lines);

/*
 * One line for the top: how many warnings, of which rules, and what the changes give back.
 * Nothing when all is well.
 */
void finding_summary(
    struct page *page, const struct finding_list *list, const struct changes *changes);

/* The ink of a severity. */
enum ink finding_ink(enum severity severity);

#endif
