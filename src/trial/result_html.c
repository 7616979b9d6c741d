/*
 * result_html.c - one page without scripts: the table as HTML, the plots as inline SVG.
 *
 * All text from outside (titles, reasons) is escaped. Bars share one scale for each plot.
 */
#include "trial/result_json.h"

#include "model/known.h"
#include "trial/table.h"

enum {
    PLOT_WIDTH = 720,
    PLOT_HEIGHT = 200,
    BAR_HEIGHT = 20,
    BAR_LEFT = 180,
    BAR_WIDTH = 420,
    TEXT_GAP = 8,
};

static const double mib = 1024.0 * 1024;

static void put_escaped(struct buffer *buffer, const char *text)
{
    for (; *text != '\0'; text++) {
        switch (*text) {
        case '<':
            buffer_append_text(buffer, "&lt;");
            break;
        case '>':
            buffer_append_text(buffer, "&gt;");
            break;
        case '&':
            buffer_append_text(buffer, "&amp;");
            break;
        case '"':
            buffer_append_text(buffer, "&quot;");
            break;
        default:
            buffer_append_char(buffer, *text);
            break;
        }
    }
}

static void put_table(const struct result *result, struct buffer *buffer)
{
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES];

    buffer_append_text(buffer, "<table><tr>");
    for (int i = 0; i < TABLE_COLUMNS; i++) {
        buffer_printf(buffer, "<th>%s</th>", table_heads[i]);
    }
    buffer_append_text(buffer, "</tr>\n");
    for (size_t i = 0; i < result->row_count; i++) {
        table_row(result, &result->rows[i], cells);
        buffer_append_text(buffer, "<tr>");
        for (int j = 0; j < TABLE_COLUMNS; j++) {
            buffer_append_text(buffer, "<td>");
            put_escaped(buffer, cells[j]);
            buffer_append_text(buffer, "</td>");
        }
        buffer_append_text(buffer, "</tr>\n");
    }
    buffer_append_text(buffer, "</table>\n");
}

struct bar {
    const char *name;
    double value;
    const char *unit;
};

static void put_bars(
    struct buffer *buffer, const char *title, const struct bar *bars, size_t count)
{
    double most = 0;

    for (size_t i = 0; i < count; i++) {
        most = bars[i].value > most ? bars[i].value : most;
    }
    if (most <= 0) {
        return;
    }
    buffer_printf(buffer, "<h2>%s</h2>\n<svg width=\"%d\" height=\"%zu\" role=\"img\">\n",
        title, PLOT_WIDTH, count * (BAR_HEIGHT + TEXT_GAP));
    for (size_t i = 0; i < count; i++) {
        const size_t top = i * (BAR_HEIGHT + TEXT_GAP);
        const double width = bars[i].value / most * BAR_WIDTH;
        buffer_printf(buffer, "<text x=\"%d\" y=\"%zu\" text-anchor=\"end\">",
            BAR_LEFT - TEXT_GAP, top + BAR_HEIGHT - 5);
        put_escaped(buffer, bars[i].name);
        buffer_printf(buffer,
            "</text><rect x=\"%d\" y=\"%zu\" width=\"%.1f\" height=\"%d\"/>"
            "<text x=\"%.1f\" y=\"%zu\">%.1f %s</text>\n",
            BAR_LEFT, top, width, BAR_HEIGHT, BAR_LEFT + width + TEXT_GAP,
            top + BAR_HEIGHT - 5, bars[i].value, bars[i].unit);
    }
    buffer_append_text(buffer, "</svg>\n");
}

static void put_all_bars(const struct result *result, struct buffer *buffer)
{
    struct bar rates[RESULT_MAX_ROWS];
    struct bar memory[RESULT_MAX_ROWS];
    struct bar both[RESULT_MAX_ROWS];
    size_t count = 0;

    for (size_t i = 0; i < result->row_count; i++) {
        const struct result_row *row = &result->rows[i];
        const struct result_medians medians = result_medians_of(row);
        const struct fact *peak = &medians.peak[result_best_figure(medians.peak)];
        const struct fact *mean = &medians.mean[result_best_figure(medians.mean)];
        if (medians.counted == 0) {
            continue;
        }
        rates[count] = (struct bar){row->recipe, medians.rate, "/s"};
        memory[count] = (struct bar){
            row->recipe, fact_is_known(peak) ? (double)peak->value / mib : 0, "MiB"};
        both[count] =
            (struct bar){row->recipe, result_per_gib(medians.rate, mean), "/s per GiB"};
        count++;
    }
    put_bars(buffer, "Requests a second", rates, count);
    put_bars(buffer, "Peak memory, each frame once", memory, count);
    put_bars(buffer, "Requests a second for each GiB", both, count);
}

static void put_line(struct buffer *buffer, const struct result_row *row, bool rss)
{
    uint64_t most = 1;
    const double end = row->points[row->point_count - 1].at_s;

    for (size_t i = 0; i < row->point_count; i++) {
        most = row->points[i].rss_sum > most ? row->points[i].rss_sum : most;
        most = row->points[i].pss > most ? row->points[i].pss : most;
    }
    buffer_printf(buffer, "<polyline class=\"%s\" points=\"", rss ? "rss" : "pss");
    for (size_t i = 0; i < row->point_count; i++) {
        const struct result_point *point = &row->points[i];
        const uint64_t value = rss ? point->rss_sum : point->pss;
        buffer_printf(buffer, "%.1f,%.1f ", end > 0 ? point->at_s / end * PLOT_WIDTH : 0,
            PLOT_HEIGHT - (double)value / (double)most * (PLOT_HEIGHT - 20));
    }
    buffer_append_text(buffer, "\"/>\n");
}

static void put_time(const struct result_row *row, struct buffer *buffer)
{
    if (row->point_count < 2) {
        return;
    }
    buffer_append_text(buffer, "<h2>");
    put_escaped(buffer, row->title);
    buffer_printf(buffer, ": memory over %.0f s (grey: sum of RSS, blue: pss)</h2>\n",
        row->points[row->point_count - 1].at_s);
    buffer_printf(buffer, "<svg width=\"%d\" height=\"%d\" role=\"img\">\n", PLOT_WIDTH,
        PLOT_HEIGHT);
    put_line(buffer, row, true);
    put_line(buffer, row, false);
    buffer_append_text(buffer, "</svg>\n");
}

void result_html(const struct result *result, struct buffer *buffer)
{
    struct buffer notes;

    buffer_append_text(buffer,
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
        "<title>strata bench</title>\n<style>body{font:14px sans-serif;margin:2em}"
        "table{border-collapse:collapse}td,th{border:1px solid #ccc;padding:3px 8px;"
        "text-align:right}td:first-child,th:first-child{text-align:left}"
        "rect{fill:#3b7dd8}polyline{fill:none;stroke-width:2}.rss{stroke:#aaa}"
        ".pss{stroke:#3b7dd8}svg{background:#f8f8f8}</style></head><body>\n"
        "<h1>Requests a second and memory</h1>\n");
    put_table(result, buffer);
    buffer_init(&notes);
    table_notes(result, &notes);
    buffer_append_text(buffer, "<pre>");
    put_escaped(buffer, buffer_text(&notes));
    buffer_append_text(buffer, "</pre>\n");
    buffer_release(&notes);
    put_all_bars(result, buffer);
    for (size_t i = 0; i < result->row_count; i++) {
        put_time(&result->rows[i], buffer);
    }
    buffer_append_text(buffer, "</body></html>\n");
}
