/*
 * member_text.c - which member of a pool is the large one.
 *
 * Rows are sorted by resident memory; what is not shown is counted, not summed: a sum of
 * resident sets counts shared pages more than once, and the ladder above has the totals.
 */
#include "present/member_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "model/host_group.h"

enum { PID_END = 10, NAME_COLUMN = 12, NAME_COLUMNS = 16, CELL_COUNT = 4 };

static const enum layer_id shown_layers[CELL_COUNT] = {
    LAYER_IN_USE, LAYER_HELD, LAYER_RESIDENT, LAYER_PSS};

static int cell_end(const struct page *page, int cell)
{
    return NAME_COLUMN + NAME_COLUMNS + (cell + 1) * (page->style->exact_bytes ? 13 : 12);
}

static int64_t resident(const struct process_view *view)
{
    const struct layer *layer = &view->layers[LAYER_RESIDENT];

    return layer->state == FACT_OK || layer->state == FACT_STALE ? layer->bytes : -1;
}

static int by_resident(const void *left, const void *right)
{
    const struct process_view *a = *(const struct process_view *const *)left;
    const struct process_view *b = *(const struct process_view *const *)right;

    if (resident(a) != resident(b)) {
        return resident(a) < resident(b) ? 1 : -1;
    }
    return a->facts->pid < b->facts->pid ? -1 : a->facts->pid > b->facts->pid;
}

static void head(struct page *page)
{
    page_heading(page, page->style->exact_bytes ? "Members, bytes" : "Members, MiB");
    for (int i = 0; i < CELL_COUNT; i++) {
        page_right(page, INK_DIM,
            shown_layers[i] == LAYER_IN_USE ? "in use" : layer_names[shown_layers[i]],
            cell_end(page, i));
    }
    page_end_line(page);
}

static void member_row(struct page *page, const struct process_view *view)
{
    char pid[16];

    (void)snprintf(pid, sizeof(pid), "%" PRId32, view->facts->pid);
    page_right(page, INK_PLAIN, pid, PID_END);
    page_at(page, NAME_COLUMN);
    if (process_is_pool_master(view->facts)) {
        page_fit(page, INK_PLAIN, "master", NAME_COLUMNS);
    } else {
        page_fit(page, INK_PLAIN, view->facts->name != NULL ? view->facts->name : "?",
            NAME_COLUMNS);
    }
    for (int i = 0; i < CELL_COUNT; i++) {
        bool known;
        uint64_t bytes = layer_bytes(&view->layers[shown_layers[i]], &known);
        page_right(page, INK_PLAIN,
            known ? quantity_mib(bytes, page->style->exact_bytes).text : "-",
            cell_end(page, i));
    }
    page_end_line(page);
}

void member_text(struct page *page, const struct snapshot *snapshot)
{
    size_t count = snapshot->member_count;

    if (count < 2) {
        return;
    }
    const struct process_view **sorted = calloc(count, sizeof(struct process_view *));
    if (sorted == NULL) {
        page->buffer->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &snapshot->members[i];
    }
    qsort(sorted, count, sizeof(struct process_view *), by_resident);
    head(page);
    for (size_t i = 0; i < count; i++) {
        member_row(page, sorted[i]);
    }
    free(sorted);
}
