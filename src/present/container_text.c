/*
 * container_text.c - why docker stats, the kubelet and the limit disagree, on four lines.
 *
 * The figures come from one reading of the same cgroup, so they differ only by what each
 * tool subtracts; docs/glossary.md has the formulas.
 */
#include "present/container_text.h"

#include <stdio.h>

#include "present/header_text.h"
#include "base/quantity.h"

enum {
    FIGURE_INDENT = 2,
    FIGURE_COLUMNS = 18,
    FIGURE_COLUMNS_EXACT = 19,
    LIMIT_BYTES = 128
};

static bool is_known(const struct fact *fact)
{
    return fact->state == FACT_OK || fact->state == FACT_STALE;
}

static struct quantity amount(const struct page *page, uint64_t bytes)
{
    return quantity_bytes(bytes, page->style->exact_bytes);
}

bool container_limit_is_above(const struct cgroup_facts *facts)
{
    const struct fact *own = &facts->values[CGROUP_FACT_LIMIT];
    const struct fact *effective = &facts->values[CGROUP_FACT_LIMIT_EFFECTIVE];

    return is_known(effective) && (!is_known(own) || effective->value < own->value);
}

static void limit_line(struct page *page, const struct container_view *view)
{
    const struct fact *limit = &view->limit;
    char scratch[BILL_TEXT_BYTES];
    const char *name = bill_name(view->facts, scratch);

    page_heading(page, view->facts->container_id != NULL ? "Container" : "Cgroup");
    if (name != NULL) {
        page_put(page, INK_PLAIN, " ");
        page_put(page, INK_PLAIN, name);
    }
    if (!is_known(limit)) {
        page_item(page, INK_DIM,
            limit->state == FACT_ABSENT ? "no limit" : "limit unknown", FIGURE_INDENT);
    } else {
        char text[LIMIT_BYTES];
        const int bytes =
            snprintf(text, sizeof(text), "limit %s%s", amount(page, limit->value).text,
                container_limit_is_above(view->facts) ? " of a cgroup above it" : "");
        if (is_known(&view->headroom)) {
            (void)snprintf(text + bytes, sizeof(text) - (size_t)bytes, ", %s left",
                amount(page, view->headroom.value).text);
        }
        page_item(page, INK_DIM, text, FIGURE_INDENT);
    }
    page_end_line(page);
}

static void figures(struct page *page, const struct container_view *view)
{
    const struct {
        const char *title;
        const struct fact *fact;
    } columns[] = {
        {"docker stats", &view->docker},
        {"kubelet", &view->kubelet},
        {"podman", &view->podman},
        {"not reclaimable", &view->non_reclaimable},
    };
    int width = page->style->exact_bytes ? FIGURE_COLUMNS_EXACT : FIGURE_COLUMNS;

    for (int i = 0; i < 4; i++) {
        page_right(page, INK_DIM, columns[i].title, FIGURE_INDENT + (i + 1) * width - 2);
    }
    page_end_line(page);
    for (int i = 0; i < 4; i++) {
        const struct fact *fact = columns[i].fact;
        page_right(page, INK_PLAIN, is_known(fact) ? amount(page, fact->value).text : "-",
            FIGURE_INDENT + (i + 1) * width - 2);
    }
    page_end_line(page);
}

/* "charged: anonymous memory 680.1 MiB, page cache 100.2 MiB" */
static void charged_kinds(struct page *page, const struct layer *charged)
{
    struct buffer text;

    if (charged->part_count == 0) {
        return;
    }
    buffer_init(&text);
    buffer_append_text(&text, "charged:");
    for (size_t i = 0; i < charged->part_count; i++) {
        const struct part *part = &charged->parts[i];
        buffer_printf(&text, "%s %s %s", i > 0 ? "," : "", part->title,
            amount(page, part->bytes).text);
    }
    if (buffer_error(&text) != 0) {
        page->buffer->failed = true;
    }
    page_at(page, FIGURE_INDENT);
    page_paragraph(page, INK_DIM, buffer_text(&text), FIGURE_INDENT);
    buffer_release(&text);
}

void container_text(struct page *page, const struct snapshot *snapshot)
{
    const struct container_view *view = &snapshot->container;

    if (view->facts == NULL) {
        return;
    }
    limit_line(page, view);
    if (view->facts->container_id != NULL || is_known(&view->limit)) {
        figures(page, view);
    }
    charged_kinds(page, &snapshot->layers[LAYER_CHARGED]);
}
