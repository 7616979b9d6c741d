/* member_text.h - the processes of a group, one row each. */
#ifndef STRATA_PRESENT_MEMBER_TEXT_H
#define STRATA_PRESENT_MEMBER_TEXT_H

#include "model/snapshot.h"
#include "present/page.h"

/* The largest members by resident memory; nothing for a single process. */
void member_text(struct page *page, const struct snapshot *snapshot);

#endif
