/* since_text.h - what became of a target since an earlier look, and of what was promised. */
#ifndef STRATA_PRESENT_SINCE_TEXT_H
#define STRATA_PRESENT_SINCE_TEXT_H

#include "findings/since.h"
#include "present/page.h"

/* The block, with so many promises at most; nothing when since is NULL. */
void since_text(struct page *page, const struct since *since, size_t most);

/*
 * One promise in words, without its verdict: "promised 98.3-120.1 MiB; resident and free
 * in malloc fell by 110.2 MiB". Appended to text.
 */
void since_promise_words(
    const struct since *since, size_t index, bool exact, struct buffer *text);

/* "as promised", "less than promised", ... */
extern const char *const since_verdict_words[SINCE_VERDICT_COUNT];

#endif
