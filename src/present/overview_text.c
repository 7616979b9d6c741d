/*
 * overview_text.c - one row for each process or pool, fitted to the terminal.
 *
 * The name takes what the numbers leave. Heaps are not walked for an overview, so most
 * columns of the allocator have no number on most hosts; an empty column is worth less
 * than the width it takes.
 */
#include "present/overview_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "present/finding_text.h"
#include "present/gap_text.h"
#include "present/header_text.h"
#include "present/page.h"
#include "base/quantity.h"

enum {
    SHOWN_ROWS = 20,
    NAME_MINIMUM = 12,
    NAME_MAXIMUM = 24,
    PID_COLUMNS = 9,
    CELL_COLUMNS = 10,
    CELL_COLUMNS_EXACT = 14,
    FINDING_COLUMNS = 24,
    NOTE_BYTES = 160,
};

struct column {
    enum layer_id layer;
    const char *title;
};

static const struct column columns[] = {
    {LAYER_TRACKED, "tracked"},
    {LAYER_IN_USE, "in use"},
    {LAYER_HELD, "held"},
    {LAYER_RESIDENT, "resident"},
    {LAYER_PSS, "pss"},
    {LAYER_CHARGED, "charged"},
    {LAYER_FREE_RESIDENT, "retained"},
};
enum { COLUMN_COUNT = sizeof(columns) / sizeof(columns[0]) };

/* Given up first to last when the terminal is too narrow; resident and charged stay. */
static const enum layer_id expendable[] = {
    LAYER_PSS, LAYER_IN_USE, LAYER_TRACKED, LAYER_FREE_RESIDENT, LAYER_HELD};
enum { EXPENDABLE_COUNT = sizeof(expendable) / sizeof(expendable[0]) };

enum column_state {
    COLUMN_EMPTY, /* no row has a number for it */
    COLUMN_SHOWN,
    COLUMN_NO_ROOM,
};

/* Where everything goes; computed once for all rows. */
struct grid {
    enum column_state states[COLUMN_COUNT];
    int name_columns;
    int cell_columns;
    int first_cell;
    int finding_column;
};

static bool any_number(const struct overview *overview, enum layer_id id)
{
    for (size_t i = 0; i < overview->count; i++) {
        bool known;
        (void)layer_bytes(&overview->rows[i].snapshot.layers[id], &known);
        if (known) {
            return true;
        }
    }
    return false;
}

static int cells_columns(const struct grid *grid)
{
    int columns_taken = 0;

    for (int i = 0; i < COLUMN_COUNT; i++) {
        columns_taken += grid->states[i] == COLUMN_SHOWN ? grid->cell_columns : 0;
    }
    return columns_taken;
}

static void give_up_column(struct grid *grid, enum layer_id layer)
{
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (columns[i].layer == layer && grid->states[i] == COLUMN_SHOWN) {
            grid->states[i] = COLUMN_NO_ROOM;
        }
    }
}

static struct grid plan(const struct page *page, const struct overview *overview)
{
    struct grid grid = {
        .cell_columns = page->style->exact_bytes ? CELL_COLUMNS_EXACT : CELL_COLUMNS};
    int room = page->width - PID_COLUMNS - FINDING_COLUMNS;

    for (int i = 0; i < COLUMN_COUNT; i++) {
        grid.states[i] =
            any_number(overview, columns[i].layer) ? COLUMN_SHOWN : COLUMN_EMPTY;
    }
    for (int i = 0; i < EXPENDABLE_COUNT; i++) {
        if (cells_columns(&grid) + NAME_MINIMUM > room) {
            give_up_column(&grid, expendable[i]);
        }
    }
    grid.name_columns = room - cells_columns(&grid);
    if (grid.name_columns < NAME_MINIMUM) {
        grid.name_columns = NAME_MINIMUM;
    } else if (grid.name_columns > NAME_MAXIMUM) {
        grid.name_columns = NAME_MAXIMUM;
    }
    grid.first_cell = grid.name_columns + PID_COLUMNS;
    grid.finding_column = grid.first_cell + cells_columns(&grid) + 2;
    return grid;
}

static void host_number(
    struct page *page, const struct facts *host, enum host_fact id, const char *title)
{
    const struct fact *fact = &host->host.values[id];

    if (fact->state == FACT_OK || fact->state == FACT_STALE) {
        page_put(page, INK_DIM, page_separator(page));
        page_printf(page, INK_PLAIN, "%s %s", title,
            quantity_bytes(fact->value, page->style->exact_bytes).text);
    }
}

static void host_line(struct page *page, const struct overview *overview)
{
    const struct facts *host = overview->host;

    page_printf(page, INK_STRONG, "%zu processes", host->process_count);
    host_number(page, host, HOST_FACT_MEM_TOTAL, "memory");
    host_number(page, host, HOST_FACT_MEM_AVAILABLE, "available");
    host_number(page, host, HOST_FACT_SWAP_TOTAL, "swap");
    page_end_line(page);
}

static void head(struct page *page, const struct grid *grid)
{
    int cell = 0;

    page_end_line(page);
    page_put(page, INK_DIM, page->style->exact_bytes ? "name (bytes)" : "name (MiB)");
    page_right(page, INK_DIM, "pid", grid->first_cell);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (grid->states[i] == COLUMN_SHOWN) {
            cell++;
            page_right(page, INK_DIM, columns[i].title,
                grid->first_cell + cell * grid->cell_columns);
        }
    }
    page_at(page, grid->finding_column);
    page_put(page, INK_DIM, "first finding");
    page_end_line(page);
}

static void who(struct page *page, const struct grid *grid, const struct facts *facts)
{
    char text[32];

    page_fit(page, INK_PLAIN, target_name(facts), grid->name_columns);
    if (facts->process_count == 1) {
        (void)snprintf(text, sizeof(text), "%" PRId32, facts->processes[0].pid);
        page_right(page, INK_PLAIN, text, grid->first_cell);
    } else {
        (void)snprintf(text, sizeof(text), "%zu proc", facts->process_count);
        page_right(page, INK_DIM, text, grid->first_cell);
    }
}

/* What asks for action by name; what is only worth knowing as a number. */
static void first_finding(
    struct page *page, const struct grid *grid, const struct finding_list *list)
{
    int room = page->width - grid->finding_column;
    char text[NOTE_BYTES];

    if (list->count == 0) {
        return;
    }
    const struct finding *finding = &list->items[0];
    page_at(page, grid->finding_column);
    if (finding->severity == SEVERITY_INFO) {
        page_printf(page, INK_DIM, "%zu note%s", list->count, list->count > 1 ? "s" : "");
        return;
    }
    (void)snprintf(text, sizeof(text), "%s", finding->rule->id);
    if (list->count > 1) {
        (void)snprintf(
            text, sizeof(text), "%.100s (+%zu)", finding->rule->id, list->count - 1);
    }
    page_fit(page, finding_ink(finding->severity), text, room > 1 ? room : 1);
}

static void row(
    struct page *page, const struct grid *grid, const struct overview_row *overview_row)
{
    int cell = 0;

    who(page, grid, overview_row->snapshot.facts);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        bool known;
        uint64_t bytes =
            layer_bytes(&overview_row->snapshot.layers[columns[i].layer], &known);
        if (grid->states[i] != COLUMN_SHOWN) {
            continue;
        }
        cell++;
        page_right(page, columns[i].layer == LAYER_RESIDENT ? INK_STRONG : INK_PLAIN,
            known ? quantity_mib(bytes, page->style->exact_bytes).text : "-",
            grid->first_cell + cell * grid->cell_columns);
    }
    first_finding(page, grid, &overview_row->list);
    page_end_line(page);
}

/* "held, retained: reason" for the columns in that state; nothing when there are none. */
static void left_out_line(struct page *page, const struct grid *grid,
    enum column_state state, const char *reason)
{
    struct buffer text;

    buffer_init(&text);
    for (int i = 0; i < COLUMN_COUNT; i++) {
        if (grid->states[i] == state) {
            buffer_printf(
                &text, "%s%s", text.length_bytes > 0 ? ", " : "", columns[i].title);
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
 * Without the Pss of each member a pool's resident is the sum of Rss: larger than what
 * explain shows, which counts a shared page once.
 */
static bool any_sum_of_rss(const struct overview *overview, size_t shown)
{
    for (size_t i = 0; i < shown; i++) {
        const struct layer *layers = overview->rows[i].snapshot.layers;
        bool resident_known;
        bool pss_known;

        (void)layer_bytes(&layers[LAYER_RESIDENT], &resident_known);
        (void)layer_bytes(&layers[LAYER_PSS], &pss_known);
        if (overview->rows[i].snapshot.facts->process_count > 1 && resident_known &&
            !pss_known) {
            return true;
        }
    }
    return false;
}

void present_overview_text(const struct overview *overview,
    const struct present_style *style, struct buffer *buffer)
{
    struct page page;
    size_t shown = overview->count;

    page_init(&page, style, buffer);
    struct grid grid = plan(&page, overview);
    if (!style->unfolded && shown > SHOWN_ROWS) {
        shown = SHOWN_ROWS;
    }
    host_line(&page, overview);
    head(&page, &grid);
    for (size_t i = 0; i < shown; i++) {
        row(&page, &grid, &overview->rows[i]);
    }
    if (shown < overview->count) {
        page_printf(
            &page, INK_DIM, "and %zu smaller: --all shows them", overview->count - shown);
        page_end_line(&page);
    }
    page_end_line(&page);
    left_out_line(&page, &grid, COLUMN_EMPTY, "not read here, see strata explain NAME");
    left_out_line(&page, &grid, COLUMN_NO_ROOM, "no room, see --width or strata --json");
    if (any_sum_of_rss(overview, shown)) {
        page_paragraph(&page, INK_DIM,
            "resident of several processes without pss: the sum of their Rss, shared "
            "pages counted for each",
            0);
    }
    gap_text(&page, overview->host);
}
