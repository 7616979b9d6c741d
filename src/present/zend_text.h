/* zend_text.h - the section on PHP: its heaps, where real goes, FPM's pools. */
#ifndef STRATA_PRESENT_ZEND_TEXT_H
#define STRATA_PRESENT_ZEND_TEXT_H

#include "facts_types/facts.h"
#include "present/page.h"

/* Nothing when no member runs PHP. */
void zend_text(struct page *page, const struct facts *facts);

#endif
