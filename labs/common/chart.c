/*
 * chart.c - SVG 1.1 without scripts or fonts of its own, readable in light and dark.
 */
#include "chart.h"

#include <errno.h>
#include <stdio.h>

enum {
    WIDTH = 900,
    LEFT = 190,
    RIGHT = 210,
    TOP = 40,
    ROW = 22,
    BAR = 14,
    GROUP_GAP = 34,
    AXIS_STEPS = 4,
    PERCENT = 100,
};

static double x_of(double value)
{
    const double limited = value < 0 ? 0 : value > 1.2 ? 1.2 : value;

    return LEFT + limited * (WIDTH - LEFT - RIGHT);
}

static void write_bar(FILE *file, const struct chart_bar *bar, int y)
{
    (void)fprintf(file, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>\n",
        LEFT - 8, y + BAR - 2, bar->label);
    if (bar->value >= 0) {
        (void)fprintf(file,
            "<rect x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#4a7dbd\"/>\n",
            LEFT, y, x_of(bar->value) - LEFT, BAR);
    }
    if (bar->has_range) {
        (void)fprintf(file,
            "<rect x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\" fill=\"#e6953a\""
            " fill-opacity=\"0.45\" stroke=\"#b86a12\"/>\n",
            x_of(bar->low), y - 3, x_of(bar->high) - x_of(bar->low), BAR + 6);
    }
    const double end = bar->has_range && bar->high > bar->value ? bar->high : bar->value;
    (void)fprintf(file, "<text x=\"%.1f\" y=\"%d\">%s</text>\n", x_of(end) + 8,
        y + BAR - 2, bar->note);
}

static void write_axis(FILE *file, int bottom)
{
    for (int i = 0; i <= AXIS_STEPS; i++) {
        const double x = x_of((double)i / AXIS_STEPS);
        (void)fprintf(file,
            "<line x1=\"%.1f\" y1=\"%d\" x2=\"%.1f\" y2=\"%d\" stroke=\"#bbb\"/>\n"
            "<text x=\"%.1f\" y=\"%d\" text-anchor=\"middle\" fill=\"#777\">%d "
            "%%</text>\n",
            x, TOP, x, bottom, x, bottom + BAR, i * PERCENT / AXIS_STEPS);
    }
}

static int height_of(const struct chart_group *groups, size_t group_count)
{
    int rows = 0;

    for (size_t i = 0; i < group_count; i++) {
        rows += (int)groups[i].count;
    }
    return TOP + rows * ROW + (int)group_count * GROUP_GAP;
}

int chart_write(const char *path, const char *title, const struct chart_group *groups,
    size_t group_count)
{
    const int bottom = height_of(groups, group_count);
    FILE *file = fopen(path, "we");
    int y = TOP;

    if (file == NULL) {
        return -errno;
    }
    (void)fprintf(file,
        "<svg xmlns=\"http"
        "://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\""
        " font-family=\"sans-serif\" font-size=\"12\" fill=\"#333\">\n"
        "<rect width=\"100%%\" height=\"100%%\" fill=\"#fff\"/>\n"
        "<text x=\"12\" y=\"24\" font-size=\"15\">%s</text>\n",
        WIDTH, bottom + ROW, title);
    write_axis(file, bottom);
    for (size_t i = 0; i < group_count; i++) {
        y += GROUP_GAP;
        (void)fprintf(file, "<text x=\"12\" y=\"%d\" font-weight=\"bold\">%s</text>\n",
            y - 10, groups[i].title);
        for (size_t j = 0; j < groups[i].count; j++) {
            write_bar(file, &groups[i].bars[j], y);
            y += ROW;
        }
    }
    (void)fprintf(file, "</svg>\n");
    const bool failed = ferror(file) != 0;
    return fclose(file) != 0 || failed ? -EIO : 0;
}
