/*
 * overview_table.c - rows of names and numbers, fitted to the terminal.
 *
 * The name takes what the numbers leave. An overview walks no heap, so most columns of the
 * allocator have no number on most hosts; an empty column is worth less than the width it
 * takes. What a cgroup is charged stands once: in the largest row that it bills.
 */
#include "present/overview_table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "present/finding_text.h"
#include "present/header_text.h"

enum {
    NAME_MINIMUM = 12,
    NAME_MAXIMUM = 24,
    PID_COLUMNS = 9,
    CELL_COLUMNS = 10,
    CELL_COLUMNS_EXACT = 14,
    FINDING_COLUMNS = 24,
    NOTE_BYTES = 160,
};

static const struct {
    enum layer_id layer;
    const char *title;
} columns[OVERVIEW_COLUMNS] = {
    {LAYER_TRACKED, "tracked"},
    {LAYER_IN_USE, "in use"},
    {LAYER_HELD, "held"},
    {LAYER_RESIDENT, "resident"},
    {LAYER_PSS, "pss"},
    {LAYER_CHARGED, "charged"},
    {LAYER_FREE_RESIDENT, "retained"},
};

/* Given up first to last when the terminal is too narrow; resident and charged stay. */
static const enum layer_id expendable[] = {
    LAYER_PSS, LAYER_IN_USE, LAYER_TRACKED, LAYER_HELD, LAYER_FREE_RESIDENT};
enum { EXPENDABLE_COUNT = sizeof(expendable) / sizeof(expendable[0]) };

/* ---- lines */

enum overview_bill overview_bill_of(const struct overview *overview, size_t index)
{
    const struct facts *facts = overview->rows[index].snapshot.facts;
    const int32_t cgroup = facts->target_cgroup;

    if (cgroup < 0 || (size_t)cgroup >= facts->cgroup_count) {
        return BILL_OWN;
    }
    const char *path = facts->cgroups[cgroup].charged_path;
    if (facts->cgroups[cgroup].root || (path != NULL && strcmp(path, "/") == 0)) {
        return BILL_HOST;
    }
    for (size_t i = 0; i < index; i++) {
        if (overview->rows[i].snapshot.facts->target_cgroup == cgroup) {
            return BILL_SHARED;
        }
    }
    return BILL_OWN;
}

void overview_lines_fill(const struct overview *overview, struct overview_line *lines)
{
    for (size_t i = 0; i < overview->count; i++) {
        const struct overview_row *row = &overview->rows[i];
        const struct facts *facts = row->snapshot.facts;
        lines[i] = (struct overview_line){.name = target_name(facts),
            .row = i,
            .pid = facts->process_count > 0 ? facts->processes[0].pid : 0,
            .processes = facts->process_count,
            .bill = overview_bill_of(overview, i),
            .layers = row->snapshot.layers,
            .list = &row->list};
    }
}

const char *overview_column_title(int column)
{
    return columns[column].title;
}

uint64_t overview_cell(const struct overview_line *line, int column, bool *known)
{
    const enum layer_id layer = columns[column].layer;
    const uint64_t bytes = layer_bytes(&line->layers[layer], known);

    if (layer == LAYER_CHARGED && line->bill != BILL_OWN) {
        *known = false;
    }
    return *known ? bytes : 0;
}

const char *overview_bound_sign(const struct page *page, enum layer_bound bound)
{
    switch (bound) {
    case BOUND_AT_MOST:
        return page->style->utf8 ? "\u2264" : "<=";
    case BOUND_AT_LEAST:
        return page->style->utf8 ? "\u2265" : ">=";
    case BOUND_NONE:
    default:
        return "";
    }
}

/* ---- the grid */

static bool any_number(const struct overview_line *lines, size_t count, int column)
{
    for (size_t i = 0; i < count; i++) {
        bool known;
        (void)overview_cell(&lines[i], column, &known);
        if (known) {
            return true;
        }
    }
    return false;
}

static int cells_columns(const struct overview_grid *grid)
{
    int columns_taken = 0;

    for (int i = 0; i < OVERVIEW_COLUMNS; i++) {
        columns_taken += grid->states[i] == COLUMN_SHOWN ? grid->cell_columns : 0;
    }
    return columns_taken;
}

static void give_up_column(struct overview_grid *grid, enum layer_id layer)
{
    for (int i = 0; i < OVERVIEW_COLUMNS; i++) {
        if (columns[i].layer == layer && grid->states[i] == COLUMN_SHOWN) {
            grid->states[i] = COLUMN_NO_ROOM;
        }
    }
}

struct overview_grid overview_grid_plan(
    const struct page *page, const struct overview_line *lines, size_t count)
{
    struct overview_grid grid = {
        .cell_columns = page->style->exact_bytes ? CELL_COLUMNS_EXACT : CELL_COLUMNS};
    int room = page->width - PID_COLUMNS - FINDING_COLUMNS;

    for (int i = 0; i < OVERVIEW_COLUMNS; i++) {
        grid.states[i] = any_number(lines, count, i) ? COLUMN_SHOWN : COLUMN_EMPTY;
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

/* ---- head and lines */

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

void overview_host_line(struct page *page, const struct facts *host)
{
    page_put(page, INK_STRONG, quantity_count(host->process_count, "process").text);
    host_number(page, host, HOST_FACT_MEM_TOTAL, "memory");
    host_number(page, host, HOST_FACT_MEM_AVAILABLE, "available");
    host_number(page, host, HOST_FACT_SWAP_TOTAL, "swap");
}

void overview_table_head(struct page *page, const struct overview_grid *grid, int sorted)
{
    int cell = 0;

    page_put(page, INK_DIM, page->style->exact_bytes ? "name (bytes)" : "name (MiB)");
    page_right(page, INK_DIM, "pid", grid->first_cell);
    for (int i = 0; i < OVERVIEW_COLUMNS; i++) {
        if (grid->states[i] == COLUMN_SHOWN) {
            cell++;
            page_right(page, i == sorted ? INK_STRONG : INK_DIM, columns[i].title,
                grid->first_cell + cell * grid->cell_columns);
        }
    }
    page_at(page, grid->finding_column);
    page_put(page, INK_DIM, "first finding");
    page_end_line(page);
}

static void who(
    struct page *page, const struct overview_grid *grid, const struct overview_line *line)
{
    char text[32];

    if (line->member) {
        page_at(page, 2);
    }
    page_fit(page, line->member ? INK_DIM : INK_PLAIN, line->name,
        grid->name_columns - page->column);
    if (line->processes == 1) {
        (void)snprintf(text, sizeof(text), "%" PRId32, line->pid);
        page_right(page, INK_PLAIN, text, grid->first_cell);
    } else {
        (void)snprintf(
            text, sizeof(text), "%s%zu proc", line->unfolded ? "-" : "", line->processes);
        page_right(page, INK_DIM, text, grid->first_cell);
    }
}

/* What asks for action by name; what is only worth knowing as a number. */
static void first_finding(
    struct page *page, const struct overview_grid *grid, const struct finding_list *list)
{
    int room = page->width - grid->finding_column;
    char text[NOTE_BYTES];

    if (list == NULL || list->count == 0) {
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

static void cell(struct page *page, const struct overview_line *line, int column, int end)
{
    const bool charged = columns[column].layer == LAYER_CHARGED;
    const struct layer *layer = &line->layers[columns[column].layer];
    char text[NOTE_BYTES];
    bool known;
    const uint64_t bytes = overview_cell(line, column, &known);

    if (charged && line->bill == BILL_SHARED) {
        page_right(page, INK_DIM, "shared", end);
    } else if (known) {
        (void)snprintf(text, sizeof(text), "%s%s",
            overview_bound_sign(page, layer->bound),
            quantity_mib(bytes, page->style->exact_bytes).text);
        page_right(page, columns[column].layer == LAYER_RESIDENT ? INK_STRONG : INK_PLAIN,
            text, end);
    } else {
        page_right(page, INK_PLAIN, "-", end);
    }
}

void overview_table_line(
    struct page *page, const struct overview_grid *grid, const struct overview_line *line)
{
    int cells = 0;

    who(page, grid, line);
    for (int i = 0; i < OVERVIEW_COLUMNS; i++) {
        if (grid->states[i] == COLUMN_SHOWN) {
            cells++;
            cell(page, line, i, grid->first_cell + cells * grid->cell_columns);
        }
    }
    first_finding(page, grid, line->list);
    page_end_line(page);
}
