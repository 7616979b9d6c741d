/*
 * gap_text.c - missing facts, so that nobody takes "not read" for "nothing there".
 *
 * The same gap of many processes (a pool read without permission) is one line with their
 * number. Gaps are at most FACTS_MAX_GAPS; the human view stops after a few different ones
 * and says how many more there are.
 */
#include "present/gap_text.h"

#include <inttypes.h>
#include <string.h>

enum { FACT_COLUMN = 2, WHY_COLUMN = 16, SHOWN_GAPS = 8 };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_gap(const struct gap *a, const struct gap *b)
{
    return a->state == b->state && same_text(a->fact, b->fact) &&
           same_text(a->why, b->why);
}

static bool was_shown(const struct facts *facts, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (same_gap(&facts->gaps[i], &facts->gaps[index])) {
            return true;
        }
    }
    return false;
}

static size_t count_same(const struct facts *facts, size_t index)
{
    size_t count = 0;

    for (size_t i = index; i < facts->gap_count; i++) {
        count += same_gap(&facts->gaps[i], &facts->gaps[index]) ? 1 : 0;
    }
    return count;
}

static void one_gap(struct page *page, const struct facts *facts, size_t index)
{
    const struct gap *gap = &facts->gaps[index];
    size_t same = count_same(facts, index);

    page_at(page, FACT_COLUMN);
    page_put(page, INK_PLAIN, gap->fact);
    page_at(page, page->column < WHY_COLUMN ? WHY_COLUMN : page->column + 1);
    page_put(page, INK_WARN, fact_state_names[gap->state]);
    if (same > 1) {
        page_printf(page, INK_DIM, " in %zu processes", same);
    } else if (facts->process_count > 1 && gap->pid != 0) {
        page_printf(page, INK_DIM, " in pid %" PRId32, gap->pid);
    }
    if (gap->why == NULL) {
        page_end_line(page);
        return;
    }
    page_put(page, INK_PLAIN, ":");
    page_paragraph(page, INK_PLAIN, gap->why, WHY_COLUMN);
}

void gap_text(struct page *page, const struct facts *facts)
{
    size_t shown = 0;
    size_t hidden = 0;

    if (facts->gap_count == 0) {
        return;
    }
    page_heading(page, "Missing");
    page_end_line(page);
    for (size_t i = 0; i < facts->gap_count; i++) {
        if (shown == SHOWN_GAPS && !page->style->unfolded) {
            hidden = facts->gap_count - i;
            break;
        }
        if (!was_shown(facts, i)) {
            one_gap(page, facts, i);
            shown++;
        }
    }
    if (hidden > 0) {
        page_at(page, FACT_COLUMN);
        page_printf(page, INK_DIM, "and %zu more: --all shows them", hidden);
        page_end_line(page);
    }
}
