/*
 * explain_text.c - the order of the sections on the screen of `strata explain`.
 *
 * From the account to the action: findings stand near the end, where the eye is when the
 * prompt is back. Each section has its own file and prints nothing when it has nothing.
 */
#include "present/explain_text.h"

#include "present/allocator_text.h"
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

static void cost_line(struct page *page, const struct facts *facts, const char *kept)
{
    page_end_line(page);
    page_printf(page, INK_DIM, "read %s in %s%s%s",
        quantity_bytes(facts->cost_bytes_read, page->style->exact_bytes).text,
        quantity_microseconds(facts->cost_wall_us).text, page_separator(page),
        quantity_time(facts->taken_at_unix_ns).text);
    if (kept != NULL) {
        page_printf(page, INK_DIM, "%s%s", page_separator(page), kept);
    }
    page_end_line(page);
}

void present_explain_text(const struct snapshot *snapshot,
    const struct finding_list *list, const struct explain_past *past,
    const struct present_style *style, struct buffer *buffer)
{
    struct page page;

    page_init(&page, style, buffer);
    header_text(&page, snapshot);
    finding_summary(&page, list);
    page_end_line(&page);
    ladder_text(&page, snapshot);
    resident_text(&page, snapshot);
    member_text(&page, snapshot);
    allocator_text(&page, snapshot);
    strata_text(&page, snapshot);
    zend_text(&page, snapshot->facts);
    mysql_text(&page, snapshot);
    container_text(&page, snapshot);
    since_text(&page, past != NULL ? past->since : NULL);
    finding_text(&page, list, snapshot->facts);
    gap_text(&page, snapshot->facts);
    cost_line(&page, snapshot->facts, past != NULL ? past->kept : NULL);
}
