/* zend_text.h - the section on PHP: its heaps, where real goes, FPM's pools. */
#ifndef STRATA_PRESENT_ZEND_TEXT_H
#define STRATA_PRESENT_ZEND_TEXT_H

#include <stdbool.h>

#include "facts_types/facts.h"
#include "present/page.h"

/* Nothing when no member runs PHP. */
void zend_text(struct page *page, const struct facts *facts);

/* Whether there are heaps to show. */
bool zend_text_has(const struct facts *facts);

/* Of each pool of FPM its settings and how many workers are at work. */
void pool_lines(struct page *page, const struct facts *facts);

#endif
