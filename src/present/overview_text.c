/*
 * overview_text.c - `strata`: the host's memory, a table of rows, and what the table leaves out.
 *
 * What was not read since reading it for all would be dear is said in a line of notes; under
 * Missing stands only what somebody could mend.
 */
#include "present/overview_text.h"

#include <stdio.h>
#include <stdlib.h>

#include "present/gap_text.h"
#include "present/overview_table.h"

enum { SHOWN_ROWS = 20, NOTE_BYTES = 160 };

/* "held, retained: reason" for the columns in that state; nothing when there are none. */
static void left_out_line(struct page *page, const struct overview_grid *grid,
    enum overview_column_state state, const char *reason)
{
    struct buffer text;

    buffer_init(&text);
    for (int i = 0; i < OVERVIEW_COLUMNS; i++) {
        if (grid->states[i] == state) {
            buffer_printf(&text, "%s%s", text.length_bytes > 0 ? ", " : "",
                overview_column_title(i));
        }
    }
    if (text.length_bytes > 0) {
        buffer_printf(&text, ": %s", reason);
        page_paragraph(page, INK_DIM, buffer_text(&text), 0);
    }
    if (buffer_error(&text) != 0) {
        page->buffer->failed = true;
    }
    buffer_release(&text);
}

/*
 * What the sign before a pool's resident says. explain reads the frames of its processes
 * and counts each once; the overview has sums over the processes only.
 */
static void bound_line(struct page *page, const struct overview_line *lines, size_t shown,
    enum layer_bound bound, const char *meaning)
{
    for (size_t i = 0; i < shown; i++) {
        const struct layer *resident = &lines[i].layers[LAYER_RESIDENT];
        bool known;

        (void)layer_bytes(resident, &known);
        if (known && resident->bound == bound) {
            char text[NOTE_BYTES];
            (void)snprintf(text, sizeof(text), "%s resident of several processes: %s",
                overview_bound_sign(page, bound), meaning);
            page_paragraph(page, INK_DIM, text, 0);
            return;
        }
    }
}

static bool any_shared_bill(const struct overview_line *lines, size_t shown)
{
    for (size_t i = 0; i < shown; i++) {
        if (lines[i].bill == BILL_SHARED) {
            return true;
        }
    }
    return false;
}

/* Something was not read of the smaller processes, by choice. */
static bool any_choice(const struct facts *host)
{
    for (size_t i = 0; i < host->gap_count; i++) {
        if (host->gaps[i].state == FACT_ABSENT && host->gaps[i].pid == 0) {
            return true;
        }
    }
    return false;
}

static void notes(struct page *page, const struct facts *host,
    const struct overview_grid *grid, const struct overview_line *lines, size_t shown)
{
    left_out_line(page, grid, COLUMN_EMPTY, "not read here, see strata explain NAME");
    left_out_line(page, grid, COLUMN_NO_ROOM, "no room, see --width or strata --json");
    bound_line(page, lines, shown, BOUND_AT_MOST,
        "the sum of their Rss, shared pages counted for each; explain counts them once");
    bound_line(page, lines, shown, BOUND_AT_LEAST,
        "the sum of their Pss, without what others have of shared pages; explain has it");
    if (any_shared_bill(lines, shown)) {
        page_paragraph(page, INK_DIM,
            "charged is of a cgroup: its largest row has it, others of it say shared", 0);
    }
    if (any_choice(host)) {
        page_paragraph(page, INK_DIM,
            "status and pss are read of the largest only, to stay cheap: explain a row "
            "for its own",
            0);
    }
}

static void table(struct page *page, const struct facts *host,
    const struct overview_line *lines, size_t count)
{
    const struct overview_grid grid = overview_grid_plan(page, lines, count);
    size_t shown = count;

    if (!page->style->unfolded && shown > SHOWN_ROWS) {
        shown = SHOWN_ROWS;
    }
    overview_table_head(page, &grid, -1);
    for (size_t i = 0; i < shown; i++) {
        overview_table_line(page, &grid, &lines[i]);
    }
    if (shown < count) {
        page_printf(page, INK_DIM, "and %zu smaller: --all shows them", count - shown);
        page_end_line(page);
    }
    page_end_line(page);
    notes(page, host, &grid, lines, shown);
}

void present_overview_lines(const struct facts *host, const struct overview_line *lines,
    size_t count, const struct present_style *style, struct buffer *buffer)
{
    struct page page;

    page_init(&page, style, buffer);
    overview_host_line(&page, host);
    page_end_line(&page);
    page_end_line(&page);
    table(&page, host, lines, count);
    gap_text_mendable(&page, host);
}

void present_overview_text(const struct overview *overview,
    const struct present_style *style, struct buffer *buffer)
{
    struct overview_line *lines = calloc(overview->count + 1, sizeof(*lines));

    if (lines == NULL) {
        buffer->failed = true;
        return;
    }
    overview_lines_fill(overview, lines);
    present_overview_lines(overview->host, lines, overview->count, style, buffer);
    free(lines);
}
