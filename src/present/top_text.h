/* top_text.h - the screen of `strata top` as lines of text, whatever paints them. */
#ifndef STRATA_PRESENT_TOP_TEXT_H
#define STRATA_PRESENT_TOP_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "present/overview_table.h"
#include "present/style.h"

/* What lines are sorted by: a column of the overview by its number, or one of these. */
enum top_sort {
    TOP_SORT_NAME = OVERVIEW_COLUMNS,
    TOP_SORT_PID,
    TOP_SORT_FINDING, /* gravest first, then what it gives back */
    TOP_SORT_COUNT,
};

/* "resident", "name", ...; what --sort takes. */
const char *top_sort_name(int sort);

/* The sort of that name, or -1. */
int top_sort_find(const char *name);

/*
 * Sorts lines in place: largest first, names and pids smallest first; reversed the other way
 * round. What has no number comes last either way. Lines of members (member) stay behind their
 * row, sorted among themselves.
 */
void top_sort_lines(struct overview_line *lines, size_t count, int sort, bool reversed);

/* True when name contains filter, whatever the case of ASCII letters. */
bool top_filter_matches(const char *name, const char *filter);

enum top_pane { TOP_PANE_NONE, TOP_PANE_DETAIL, TOP_PANE_HELP };

/* What is shown; everything is borrowed. */
struct top_screen {
    const struct facts *host; /* NULL: not read yet */
    bool host_failed;         /* it was tried to read it, and could not be */
    const struct overview_line *lines;
    size_t count;
    size_t first;    /* the line at the top of the list */
    size_t selected; /* below count, when there are lines */
    int sort;
    bool reversed;
    bool paused;
    const char *filter;  /* "": none */
    bool filter_is_open; /* it is being typed */
    double age_seconds;  /* of the look at the host */
    enum top_pane pane;
    const char *pane_text; /* its lines, each ended; may hold inks */
    size_t pane_first;     /* its first line that is shown */
    int height;            /* of the whole screen */
};

/* How many lines of the list the screen has room for. */
size_t top_list_height(const struct top_screen *screen);

/* How many lines of the pane; 0: there is none. */
size_t top_pane_height(const struct top_screen *screen);

/*
 * Appends exactly screen->height lines, each ended by a line feed and none of them safe against
 * being too wide: who paints cuts at its width. *selected_line: where the selected one stands;
 * -1: nowhere.
 */
void present_top_text(const struct top_screen *screen, const struct present_style *style,
    struct buffer *buffer, int *selected_line);

/* The keys, as lines of text. */
const char *top_help_text(void);

#endif
