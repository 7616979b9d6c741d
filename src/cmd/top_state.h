/* top_state.h - what `strata top` shows, and the steps by which a key may change it. */
#ifndef STRATA_CMD_TOP_STATE_H
#define STRATA_CMD_TOP_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cmd/top_rows.h"
#include "present/top_text.h"

struct top {
    struct watch *watch;
    struct present_style style; /* with the width of now */
    struct top_choice choice;
    struct top_rows rows;
    bool has_rows;
    struct top_screen screen;
    bool pane_has_keys;
    struct buffer pane;   /* the text of the pane */
    char *selected_key;   /* which row the selection is on; NULL: the first */
    int32_t selected_pid; /* 0: the row itself, else one of its members */
    bool done;
};

/* Shows what the watch knows now. 0 or -ENOMEM; then what was shown stays. */
int top_take_moment(struct top *top);

/* Shows the same moment by what was chosen meanwhile. */
void top_arrange(struct top *top);

/* The next way to sort, or with -1 the one before. */
void top_sort_by(struct top *top, int step);

/* Shows or hides the members of the selected row. */
void top_fold(struct top *top, bool unfold);

/* Selects a line, or the first or last one when there is none of that number. */
void top_select_line(struct top *top, int64_t line);
void top_scroll_to_selection(struct top_screen *screen);

/* Opens a pane, or closes it when it is the open one. */
void top_open_pane(struct top *top, enum top_pane pane);
void top_close_pane(struct top *top);

void top_fill_pane(struct top *top);
void top_scroll_pane(struct top *top, int64_t lines);

/* All but the watch. */
void top_release(struct top *top);

#endif
