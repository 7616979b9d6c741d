/*
 * chart.h - one picture of bars and predicted ranges, as SVG, for a browser or a page.
 */
#ifndef STRATA_LABS_COMMON_CHART_H
#define STRATA_LABS_COMMON_CHART_H

#include <stdbool.h>
#include <stddef.h>

enum { CHART_TEXT_BYTES = 64 };

/* Values are shares of the full width: 1.0 is the whole axis. */
struct chart_bar {
    char label[CHART_TEXT_BYTES]; /* no markup: letters, digits, blanks, = and the like */
    char note[CHART_TEXT_BYTES];  /* behind the bar */
    double value;                 /* negative: no bar, the note only */
    bool has_range;               /* drawn over the bar */
    double low;
    double high;
};

struct chart_group {
    const char *title;
    const struct chart_bar *bars;
    size_t count;
};

/* Writes the picture, or replaces it: 0 or -errno. */
int chart_write(const char *path, const char *title, const struct chart_group *groups,
    size_t group_count);

#endif
