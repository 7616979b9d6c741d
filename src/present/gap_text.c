/*
 * gap_text.c - missing facts, so that nobody takes "not read" for "nothing there".
 *
 * One cause usually takes several facts away, of many processes: facts with the same state
 * and reason share a line. Gaps are at most FACTS_MAX_GAPS; the human view stops after a
 * few different causes and says so.
 */
#include "present/gap_text.h"

#include <inttypes.h>
#include <string.h>

#include "base/quantity.h"

enum { STATE_COLUMN = 2, WHY_COLUMN = 13, SHOWN_CAUSES = 8 };

static bool same_text(const char *a, const char *b)
{
    return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_cause(const struct gap *a, const struct gap *b)
{
    return a->state == b->state && same_text(a->why, b->why);
}

static bool same_gap(const struct gap *a, const struct gap *b)
{
    return same_cause(a, b) && strcmp(a->fact, b->fact) == 0;
}

/* Whether a gap before index is like the one there, in the sense of same. */
static bool is_repeated(const struct facts *facts, size_t index,
    bool (*same)(const struct gap *, const struct gap *))
{
    for (size_t i = 0; i < index; i++) {
        if (same(&facts->gaps[i], &facts->gaps[index])) {
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

/* "smaps, pagemap of 12 processes: reason" */
static void describe_cause(const struct facts *facts, size_t index, struct buffer *text)
{
    const struct gap *first = &facts->gaps[index];
    size_t processes = count_same(facts, index);

    buffer_append_text(text, first->fact);
    for (size_t i = index + 1; i < facts->gap_count; i++) {
        if (same_cause(first, &facts->gaps[i]) && !is_repeated(facts, i, same_gap)) {
            buffer_printf(text, ", %s", facts->gaps[i].fact);
        }
    }
    if (processes > 1) {
        buffer_printf(text, " of %s", quantity_count(processes, "process").text);
    } else if (facts->process_count > 1 && first->pid != 0) {
        buffer_printf(text, " of pid %" PRId32, first->pid);
    }
    if (first->why != NULL) {
        buffer_printf(text, ": %s", first->why);
    }
}

static void one_cause(struct page *page, const struct facts *facts, size_t index)
{
    struct buffer text;

    buffer_init(&text);
    describe_cause(facts, index, &text);
    if (buffer_error(&text) != 0) {
        page->buffer->failed = true;
    }
    page_at(page, STATE_COLUMN);
    page_put(page, INK_WARN, fact_state_names[facts->gaps[index].state]);
    page_at(page, WHY_COLUMN);
    page_paragraph(page, INK_PLAIN, buffer_text(&text), WHY_COLUMN);
    buffer_release(&text);
}

static bool any_mendable(const struct facts *facts)
{
    for (size_t i = 0; i < facts->gap_count; i++) {
        if (facts->gaps[i].state != FACT_ABSENT) {
            return true;
        }
    }
    return false;
}

/* absent: also what does not exist or was not asked for. */
static void list_causes(struct page *page, const struct facts *facts, bool absent)
{
    size_t shown = 0;

    page_heading(page, "Missing");
    page_end_line(page);
    for (size_t i = 0; i < facts->gap_count; i++) {
        if (is_repeated(facts, i, same_cause) ||
            (!absent && facts->gaps[i].state == FACT_ABSENT)) {
            continue;
        }
        if (shown == SHOWN_CAUSES && !page->style->unfolded) {
            page_at(page, STATE_COLUMN);
            page_put(page, INK_DIM, "and for other reasons: --all shows them");
            page_end_line(page);
            return;
        }
        one_cause(page, facts, i);
        shown++;
    }
}

void gap_text(struct page *page, const struct facts *facts)
{
    if (facts->gap_count > 0) {
        list_causes(page, facts, true);
    }
}

void gap_text_mendable(struct page *page, const struct facts *facts)
{
    if (any_mendable(facts)) {
        list_causes(page, facts, false);
    }
}

/* The first cause that can be mended; else the first. */
static size_t telling_cause(const struct facts *facts)
{
    static const enum fact_state order[] = {
        FACT_DENIED, FACT_MALFORMED, FACT_GONE, FACT_STALE};

    for (size_t i = 0; i < sizeof(order) / sizeof(order[0]); i++) {
        for (size_t j = 0; j < facts->gap_count; j++) {
            if (facts->gaps[j].state == order[i]) {
                return j;
            }
        }
    }
    return 0;
}

void gap_line(struct page *page, const struct facts *facts)
{
    struct buffer text;

    if (facts->gap_count == 0) {
        return;
    }
    const size_t index = telling_cause(facts);
    const enum ink ink = any_mendable(facts) ? INK_WARN : INK_DIM;

    buffer_init(&text);
    buffer_printf(&text, "%s ", fact_state_names[facts->gaps[index].state]);
    describe_cause(facts, index, &text);
    buffer_append_text(&text, " (--all)");
    page_printf(page, ink, "%s missing:", quantity_count(facts->gap_count, "fact").text);
    page_paragraph(page, ink, buffer_text(&text), STATE_COLUMN);
    page->buffer->failed = page->buffer->failed || text.failed;
    buffer_release(&text);
}
