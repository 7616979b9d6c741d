/* finding_text.h - findings for people: what, why, what it gives back, what to change. */
#ifndef STRATA_PRESENT_FINDING_TEXT_H
#define STRATA_PRESENT_FINDING_TEXT_H

#include "findings/finding.h"
#include "present/page.h"

/*
 * Every finding with its rule, sentence and prediction; those of severity warn and above
 * also with evidence, reasoning, the lines to paste and how to verify. Says so when there
 * is none. facts: whether a finding must name its member.
 */
void finding_text(
    struct page *page, const struct finding_list *list, const struct facts *facts);

/*
 * One line for the top of the screen: how many warnings, of which rules, and the most that
 * one of the changes gives back. Nothing when all is well. Savings are not added up:
 * two rules may speak of the same memory.
 */
void finding_summary(struct page *page, const struct finding_list *list);

/* The ink of a severity. */
enum ink finding_ink(enum severity severity);

#endif
