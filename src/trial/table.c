/*
 * table.c - cells as short texts; how they are set is the renderer's business.
 *
 * "RPS/GB published" divides by the sum of RSS in 10^9 bytes, as the table that this one answers
 * does; "RPS/GiB" by the frames that the pool really takes, at their time-weighted mean.
 */
#include "trial/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "model/known.h"

enum { NAME_COLUMN, NAME_WIDTH = 22 };

static const double published_gb = 1e9;

const char *const table_heads[TABLE_COLUMNS] = {"server", "workers", "idle", "mean",
    "peak", "growth", "each", "RPS", "p50 ms", "p99 ms", "RPS/GiB", "RPS/GB by RSS"};

const char *const memory_heads[MEMORY_COLUMNS] = {
    "figure", "cold", "idle", "mean", "peak", "quiet"};

static void put_bytes(char cell[TABLE_CELL_BYTES], const struct fact *fact)
{
    (void)snprintf(cell, TABLE_CELL_BYTES, "%s",
        fact_is_known(fact) ? quantity_bytes(fact->value, false).text : "-");
}

static void put_growth(
    char cell[TABLE_CELL_BYTES], const struct fact *idle, const struct fact *peak)
{
    if (!fact_is_known(idle) || !fact_is_known(peak)) {
        (void)snprintf(cell, TABLE_CELL_BYTES, "-");
        return;
    }
    const int64_t growth = (int64_t)peak->value - (int64_t)idle->value;
    (void)snprintf(
        cell, TABLE_CELL_BYTES, "%s", quantity_signed_bytes(growth, false).text);
}

static void put_rates(const struct result_medians *medians,
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES], enum memory_figure figure)
{
    const struct fact *rss = &medians->peak[MEMORY_RSS_SUM];

    const int bytes = snprintf(cells[7], TABLE_CELL_BYTES, "%.1f", medians->rate);
    if (medians->counted > 1) {
        (void)snprintf(cells[7] + bytes, TABLE_CELL_BYTES - (size_t)bytes, " (%.1f-%.1f)",
            medians->rate_least, medians->rate_most);
    }
    (void)snprintf(cells[8], TABLE_CELL_BYTES, "%.1f", medians->p50_us / 1000);
    (void)snprintf(cells[9], TABLE_CELL_BYTES, "%.1f", medians->p99_us / 1000);
    (void)snprintf(cells[10], TABLE_CELL_BYTES, "%.0f",
        result_per_gib(medians->rate, &medians->mean[figure]));
    if (fact_is_known(rss) && rss->value > 0) {
        (void)snprintf(cells[11], TABLE_CELL_BYTES, "%.0f",
            medians->rate / ((double)rss->value / published_gb));
    }
}

void table_row(const struct result *result, const struct result_row *row,
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES])
{
    const struct result_medians medians = result_medians_of(row);
    const enum memory_figure figure = result_best_figure(row->idle);
    const uint64_t workers = row->workers != 0 ? row->workers : result->setup.workers;

    for (int i = 0; i < TABLE_COLUMNS; i++) {
        (void)snprintf(cells[i], TABLE_CELL_BYTES, "-");
    }
    (void)snprintf(cells[NAME_COLUMN], TABLE_CELL_BYTES, "%s%s", row->recipe,
        row->front ? " *" : "");
    if (!row->started) {
        return;
    }
    (void)snprintf(cells[1], TABLE_CELL_BYTES, "%" PRIu64, workers);
    put_bytes(cells[2], &row->idle[figure]);
    if (medians.counted == 0) {
        (void)snprintf(cells[7], TABLE_CELL_BYTES, "invalid");
        return;
    }
    put_bytes(cells[3], &medians.mean[figure]);
    put_bytes(cells[4], &medians.peak[figure]);
    put_growth(cells[5], &row->idle[figure], &medians.peak[figure]);
    if (fact_is_known(&medians.peak[figure]) && workers > 0) {
        const struct fact each = {
            .value = medians.peak[figure].value / workers, .state = FACT_OK};
        put_bytes(cells[6], &each);
    }
    put_rates(&medians, cells, figure);
}

void table_memory_row(const struct result_row *row, enum memory_figure figure,
    char cells[MEMORY_COLUMNS][TABLE_CELL_BYTES])
{
    const struct result_medians medians = result_medians_of(row);

    (void)snprintf(cells[0], TABLE_CELL_BYTES, "%s", memory_figure_names[figure]);
    put_bytes(cells[1], &row->cold[figure]);
    put_bytes(cells[2], &row->idle[figure]);
    put_bytes(cells[3], &medians.mean[figure]);
    put_bytes(cells[4], &medians.peak[figure]);
    put_bytes(cells[5], &row->quiet[figure]);
}

/* What made the load: by the runs, for a row may need another tool than was asked for (wrk and
 * ab speak no FastCGI, and keep no rate). Before any run, what was asked for. */
static void put_tools(const struct result *result, struct buffer *buffer)
{
    static const char *const names[LOAD_TOOL_COUNT] = {
        [LOAD_OWN] = "strata's own generator", [LOAD_WRK] = "wrk", [LOAD_AB] = "ab"};
    bool used[LOAD_TOOL_COUNT] = {false};
    bool any = false;

    for (size_t i = 0; i < result->row_count; i++) {
        for (size_t j = 0; j < result->rows[i].run_count; j++) {
            used[result->rows[i].runs[j].load.tool] = true;
            any = true;
        }
    }
    used[result->setup.tool] = used[result->setup.tool] || !any;
    any = false;
    for (int i = 0; i < LOAD_TOOL_COUNT; i++) {
        if (used[i]) {
            buffer_printf(buffer, "%s%s", any ? " and " : "", names[i]);
            any = true;
        }
    }
}

static void put_setup(const struct result *result, struct buffer *buffer)
{
    const struct result_setup *setup = &result->setup;

    if (setup->attached != NULL) {
        buffer_printf(buffer, "%s as it ran", setup->attached);
    } else {
        buffer_append_text(buffer, quantity_count(setup->workers, "worker").text);
    }
    buffer_printf(buffer, ", %s, %s '%s', %s of %u s%s, %s; load by ",
        quantity_count(setup->connections, "connection").text,
        setup->url != NULL ? "URL" : "work",
        setup->url != NULL ? setup->url : setup->work,
        quantity_count(setup->runs, "run").text, setup->seconds,
        setup->runs > 1 ? ", medians (least-most)" : "",
        quantity_count(setup->processors, "processor").text);
    put_tools(result, buffer);
    buffer_append_text(buffer, ", ");
    if (setup->rate > 0) {
        buffer_printf(buffer,
            "open loop at %.0f a second, latency from the intended start.\n",
            setup->rate);
    } else {
        buffer_printf(buffer, "closed loop.\n");
    }
    if (setup->memory_limit_bytes != 0) {
        buffer_printf(buffer, "In a cgroup limited to %s.\n",
            quantity_bytes(setup->memory_limit_bytes, false).text);
    }
}

static void put_row_notes(
    const struct result *result, const struct result_row *row, struct buffer *buffer)
{
    const struct result_medians medians = result_medians_of(row);
    const double cost = result_cost(&result->setup, &medians);

    if (row->model) {
        buffer_printf(buffer, "%s: a model of the shape, not the server.\n", row->recipe);
    }
    if (row->why[0] != '\0') {
        buffer_printf(buffer, "%s: %s%s\n", row->recipe,
            row->started ? "not whole: " : "not run: ", row->why);
    }
    for (size_t i = 0; i < row->run_count; i++) {
        const struct result_run *run = &row->runs[i];
        for (size_t j = 0; j < run->reasons.count; j++) {
            buffer_printf(buffer, "%s: run %zu does not count: %s.\n", row->recipe, i + 1,
                run->reasons.text[j]);
        }
    }
    if (row->started && !row->warm) {
        buffer_printf(buffer,
            "%s: not warm after %u s: memory still moved, or workers had served few "
            "requests.\n",
            row->recipe, row->warm_seconds);
    }
    if (row->front) {
        buffer_printf(buffer,
            "%s: a proxy stands in front; it is not in the table, its pss is in "
            "'front_pss'.\n",
            row->recipe);
    }
    if (fact_is_known(&row->trim_gain)) {
        buffer_printf(buffer,
            "%s: of the memory after the quiet time %s could go back (%s).\n",
            row->recipe, quantity_bytes(row->trim_gain.value, false).text,
            "malloc_trim and gc_mem_caches, counted page by page");
    }
    if (row->box_known && result->setup.memory_limit_bytes != 0) {
        buffer_printf(buffer, "%s: the limit was met %s, %s %s killed for it, peak %s.\n",
            row->recipe, quantity_count(row->box_hits, "time").text,
            quantity_count(row->box_kills, "process").text,
            quantity_form(row->box_kills, "was", "were"),
            quantity_bytes(row->box_peak_bytes, false).text);
    }
    if (cost > 0) {
        buffer_printf(buffer,
            "%s: %.2f %s a month, %.1f requests a second for each %s.\n", row->recipe,
            cost, result->setup.currency, medians.rate / cost, result->setup.currency);
    }
}

void table_notes(const struct result *result, struct buffer *buffer)
{
    put_setup(result, buffer);
    for (size_t i = 0; i < result->row_count; i++) {
        put_row_notes(result, &result->rows[i], buffer);
    }
}

static void put_cells(
    struct buffer *buffer, char cells[TABLE_COLUMNS][TABLE_CELL_BYTES], int count)
{
    buffer_append_char(buffer, '|');
    for (int i = 0; i < count; i++) {
        buffer_printf(buffer, " %s |", cells[i]);
    }
    buffer_append_char(buffer, '\n');
}

/* One cell of a line that columns before it have begun. */
static void put_cell(struct buffer *buffer, int width, bool first, const char *cell)
{
    buffer_printf(buffer, first ? "%-*s" : "  %*s", width, cell);
}

/* Text columns are as wide as their widest cell; those beyond line_columns stand below, behind the
 * first one again. */
static void put_table(struct buffer *buffer,
    char (*rows)[TABLE_COLUMNS][TABLE_CELL_BYTES], size_t count, int columns,
    int line_columns)
{
    int widths[TABLE_COLUMNS] = {0};

    for (size_t i = 0; i < count; i++) {
        for (int j = 0; j < columns; j++) {
            const int width = (int)strlen(rows[i][j]);
            widths[j] = width > widths[j] ? width : widths[j];
        }
    }
    for (int from = 1, end = 1; from < columns; from = end) {
        int used = widths[0];
        do {
            used += 2 + widths[end++];
        } while (end < columns && used + 2 + widths[end] <= line_columns);
        if (from > 1) {
            buffer_append_char(buffer, '\n');
        }
        for (size_t i = 0; i < count; i++) {
            put_cell(buffer, widths[0], true, rows[i][0]);
            for (int j = from; j < end; j++) {
                put_cell(buffer, widths[j], false, rows[i][j]);
            }
            buffer_append_char(buffer, '\n');
        }
    }
}

static void set_heads(
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES], const char *const *heads, int count)
{
    for (int i = 0; i < count; i++) {
        (void)snprintf(cells[i], TABLE_CELL_BYTES, "%s", heads[i]);
    }
}

static bool has_figure(const struct result_row *row, enum memory_figure figure)
{
    return fact_is_known(&row->idle[figure]) || fact_is_known(&row->cold[figure]);
}

void result_tables(const struct result *result, int line_columns, struct buffer *buffer)
{
    char rows[RESULT_MAX_ROWS + 1][TABLE_COLUMNS][TABLE_CELL_BYTES];

    set_heads(rows[0], table_heads, TABLE_COLUMNS);
    for (size_t i = 0; i < result->row_count; i++) {
        table_row(result, &result->rows[i], rows[i + 1]);
    }
    put_table(buffer, rows, result->row_count + 1, TABLE_COLUMNS, line_columns);
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *row = &result->rows[i];
        size_t count = 1;
        if (!row->started) {
            continue;
        }
        set_heads(rows[0], memory_heads, MEMORY_COLUMNS);
        for (int figure = 0; figure < MEMORY_FIGURE_COUNT; figure++) {
            if (has_figure(row, (enum memory_figure)figure)) {
                table_memory_row(row, (enum memory_figure)figure, rows[count++]);
            }
        }
        buffer_printf(buffer, "\n%s: memory\n", row->recipe);
        put_table(buffer, rows, count, MEMORY_COLUMNS, line_columns);
    }
}

static void put_pipes(struct buffer *buffer, const char *const *heads, int count)
{
    buffer_append_text(buffer, "|");
    for (int i = 0; i < count; i++) {
        buffer_printf(buffer, " %s |", heads[i]);
    }
    buffer_append_text(buffer, "\n|");
    for (int i = 0; i < count; i++) {
        buffer_append_text(buffer, i == 0 ? " --- |" : " ---: |");
    }
    buffer_append_char(buffer, '\n');
}

void result_markdown(const struct result *result, struct buffer *buffer)
{
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES];

    put_pipes(buffer, table_heads, TABLE_COLUMNS);
    for (size_t i = 0; i < result->row_count; i++) {
        table_row(result, &result->rows[i], cells);
        put_cells(buffer, cells, TABLE_COLUMNS);
    }
    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *row = &result->rows[i];
        if (!row->started) {
            continue;
        }
        buffer_printf(buffer, "\n%s: memory\n\n", row->recipe);
        put_pipes(buffer, memory_heads, MEMORY_COLUMNS);
        for (int figure = 0; figure < MEMORY_FIGURE_COUNT; figure++) {
            if (has_figure(row, (enum memory_figure)figure)) {
                table_memory_row(row, (enum memory_figure)figure, cells);
                put_cells(buffer, cells, MEMORY_COLUMNS);
            }
        }
    }
    buffer_append_char(buffer, '\n');
    struct buffer notes;
    buffer_init(&notes);
    table_notes(result, &notes);
    for (const char *at = buffer_text(&notes); *at != '\0';) {
        const size_t bytes = strcspn(at, "\n");
        buffer_printf(buffer, "- %.*s\n", (int)bytes, at);
        at += bytes + (at[bytes] == '\n' ? 1 : 0);
    }
    buffer_release(&notes);
}
