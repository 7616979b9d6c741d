/* top_rows.h - what a watch knows, as the lines that `strata top` shows. */
#ifndef STRATA_CMD_TOP_ROWS_H
#define STRATA_CMD_TOP_ROWS_H

#include "cmd/watch.h"
#include "present/overview_table.h"

enum { TOP_UNFOLDED_MAX = 64, TOP_FILTER_BYTES = 64 };

/* What the user chose; keys are owned copies of keys of the watch. */
struct top_choice {
    int sort;
    bool reversed;
    char filter[TOP_FILTER_BYTES];
    char *unfolded[TOP_UNFOLDED_MAX]; /* NULL: free */
};

/* A moment and its lines in the order in which they are shown. */
struct top_rows {
    struct watch_moment moment;
    struct layer *layers; /* LAYER_COUNT for each row: the look's, where there is one */
    struct overview_line *lines;
    size_t count;
};

/* 0 or -ENOMEM; release after 0. */
int top_rows_take(
    struct watch *watch, const struct top_choice *choice, struct top_rows *rows);

/* The same moment under another choice. 0 or -ENOMEM, then the lines are as they were. */
int top_rows_arrange(const struct top_choice *choice, struct top_rows *rows);

void top_rows_release(struct top_rows *rows);

/* The row of the watch that a line is of. */
const struct watch_row *top_rows_of(const struct top_rows *rows, size_t line);

bool top_choice_is_unfolded(const struct top_choice *choice, const char *key);
void top_choice_fold(struct top_choice *choice, const char *key, bool unfold);
void top_choice_release(struct top_choice *choice);

#endif
