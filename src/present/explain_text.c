/*
 * explain_text.c - the order of the sections on the screen of `strata explain`.
 *
 * The page is one screen: the account, its largest parts, the lines to change, the other
 * findings. With everything unfolded each section follows in full, and the screen's length
 * is no concern. Each section has its own file and prints nothing when it has nothing.
 */
#include "present/explain_text.h"

#include "present/allocator_text.h"
#include "present/change_text.h"
#include "present/container_text.h"
#include "present/finding_text.h"
#include "present/gap_text.h"
#include "present/header_text.h"
#include "present/ladder_text.h"
#include "present/member_text.h"
#include "present/mysql_text.h"
#include "present/page.h"
#include "present/since_text.h"
#include "present/strata_text.h"
#include "present/zend_text.h"
#include "base/quantity.h"
#include "model/glibc_total.h"

enum {
    SCREEN_LINES = 50,
    LINES_BELOW =
        7, /* around the findings: a blank, a heading, and what stands below them */
    LEAST_FINDINGS = 2,
    LEAST_PROMISES = 1,
    FURTHER_INDENT = 2,
};

static void cost_line(struct page *page, const struct facts *facts, const char *kept)
{
    page_printf(page, INK_DIM, "read %s in %s%s%s",
        quantity_bytes(facts->cost_bytes_read, page->style->exact_bytes).text,
        quantity_microseconds(facts->cost_wall_us).text, page_separator(page),
        quantity_time(facts->taken_at_unix_ns).text);
    if (kept != NULL) {
        page_printf(page, INK_DIM, "%s%s", page_separator(page), kept);
    }
    page_end_line(page);
}

/* What --all would add, of what there is. */
static void more_line(
    struct page *page, const struct snapshot *snapshot, const struct finding_list *list)
{
    const struct facts *facts = snapshot->facts;
    const struct process_facts *first =
        facts->process_count > 0 ? facts->processes : NULL;
    struct buffer text;

    buffer_init(&text);
    buffer_append_text(&text, "every part");
    buffer_append_text(&text, facts->process_count > 1 ? ", every member" : "");
    buffer_append_text(&text, glibc_total_of(snapshot).arenas > 0 ? ", the arenas" : "");
    buffer_append_text(
        &text, first != NULL && first->mysql_count > 0 ? ", what the server counts" : "");
    buffer_append_text(&text, zend_text_has(facts) ? ", PHP's heaps" : "");
    buffer_append_text(
        &text, snapshot->container.facts != NULL ? ", what the cgroup is charged" : "");
    buffer_append_text(&text, list->count > 0 ? ", why and by what evidence" : "");
    page_put(page, INK_DIM, "--all adds:");
    page_paragraph(page, INK_DIM, buffer_text(&text), FURTHER_INDENT);
    page->buffer->failed = page->buffer->failed || text.failed;
    buffer_release(&text);
}

static size_t lines_of(const struct buffer *buffer)
{
    size_t lines = 0;

    for (size_t i = 0; i < buffer->length_bytes; i++) {
        lines += buffer->data[i] == '\n';
    }
    return lines;
}

/* How many findings fit below what is there; some are shown on any page. */
static size_t room_for_findings(const struct buffer *buffer)
{
    const size_t taken = lines_of(buffer) + LINES_BELOW;

    return taken + LEAST_FINDINGS < SCREEN_LINES ? SCREEN_LINES - taken : LEAST_FINDINGS;
}

static void put_details(struct page *page, const struct snapshot *snapshot)
{
    member_text(page, snapshot);
    allocator_text(page, snapshot);
    strata_text(page, snapshot);
    zend_text(page, snapshot->facts);
    mysql_text(page, snapshot);
    container_text(page, snapshot);
}

static void put_folded(struct page *page, const struct snapshot *snapshot,
    const struct finding_list *list, const struct changes *changes,
    const struct since *since, size_t promises)
{
    const struct facts *facts = snapshot->facts;

    header_text(page, snapshot);
    page_end_line(page);
    ladder_text(page, snapshot);
    /* On one screen the two moments take the place of the parts. */
    if (since == NULL) {
        resident_text(page, snapshot);
    }
    pool_lines(page, facts);
    since_text(page, since, promises);
    change_text(page, changes, facts);
    finding_lines(page, list, changes, room_for_findings(page->buffer));
    page_end_line(page);
    gap_line(page, facts);
}

static void put_unfolded(struct page *page, const struct snapshot *snapshot,
    const struct finding_list *list, const struct changes *changes,
    const struct since *since)
{
    const struct facts *facts = snapshot->facts;

    header_text(page, snapshot);
    finding_summary(page, list, changes);
    page_end_line(page);
    ladder_text(page, snapshot);
    resident_text(page, snapshot);
    put_details(page, snapshot);
    since_text(page, since, SIZE_MAX);
    change_text(page, changes, facts);
    finding_text(page, list, facts);
    gap_text(page, facts);
    page_end_line(page);
}

static void put_page(struct page *page, const struct snapshot *snapshot,
    const struct finding_list *list, const struct explain_past *past, size_t promises)
{
    const struct since *since = past != NULL ? past->since : NULL;
    struct changes changes;

    changes_of(list, &changes);
    if (page->style->unfolded) {
        put_unfolded(page, snapshot, list, &changes, since);
    } else {
        put_folded(page, snapshot, list, &changes, since, promises);
    }
    cost_line(page, snapshot->facts, past != NULL ? past->kept : NULL);
    if (!page->style->unfolded) {
        more_line(page, snapshot, list);
    }
}

void present_explain_text(const struct snapshot *snapshot,
    const struct finding_list *list, const struct explain_past *past,
    const struct present_style *style, struct buffer *buffer)
{
    const bool folds = !style->unfolded && past != NULL && past->since != NULL;
    size_t promises = folds ? past->since->promise_count : 0;
    struct buffer text;
    struct page page;

    buffer_init(&text);
    page_init(&page, style, &text);
    put_page(&page, snapshot, list, past, promises);
    /* How long a promise is shows when it is written: the last ones go until the rest fits. */
    while (lines_of(&text) > SCREEN_LINES && promises > LEAST_PROMISES) {
        buffer_reset(&text);
        page_init(&page, style, &text);
        put_page(&page, snapshot, list, past, --promises);
    }
    buffer_append(buffer, text.data, text.length_bytes);
    buffer->failed = buffer->failed || text.failed;
    buffer_release(&text);
}
