/*
 * top_state.c - what `strata top` shows: rows of a moment, which one is selected, the pane.
 *
 * The selection stays on its row when rows move, so it is kept by key and pid.
 */
#include "cmd/top_state.h"

#include <stdlib.h>
#include <string.h>

#include "present/explain_text.h"

/* ---- the selection */

static void remember_selection(struct top *top)
{
    const struct top_screen *screen = &top->screen;

    if (screen->selected >= top->rows.count) {
        return;
    }
    const struct overview_line *line = &top->rows.lines[screen->selected];
    char *key = strdup(top_rows_of(&top->rows, screen->selected)->key);
    if (key != NULL) {
        free(top->selected_key);
        top->selected_key = key;
        top->selected_pid = line->member ? line->pid : 0;
    }
}

static void find_selection(struct top *top)
{
    struct top_screen *screen = &top->screen;

    for (size_t i = 0; top->selected_key != NULL && i < top->rows.count; i++) {
        const struct overview_line *line = &top->rows.lines[i];
        if ((line->member ? line->pid : 0) == top->selected_pid &&
            strcmp(top_rows_of(&top->rows, i)->key, top->selected_key) == 0) {
            screen->selected = i;
            return;
        }
    }
    if (screen->selected >= top->rows.count) {
        screen->selected = top->rows.count > 0 ? top->rows.count - 1 : 0;
    }
}

void top_scroll_to_selection(struct top_screen *screen)
{
    const size_t height = top_list_height(screen);

    if (screen->selected < screen->first) {
        screen->first = screen->selected;
    } else if (screen->selected >= screen->first + height) {
        screen->first = screen->selected - height + 1;
    }
    if (screen->first > 0 && screen->first + height > screen->count) {
        screen->first = screen->count > height ? screen->count - height : 0;
    }
}

void top_select_line(struct top *top, int64_t line)
{
    const int64_t last = (int64_t)top->rows.count - 1;

    line = line > last ? last : line;
    top->screen.selected = line > 0 ? (size_t)line : 0;
    remember_selection(top);
    if (top->screen.pane == TOP_PANE_DETAIL) {
        top->screen.pane_first = 0;
        watch_focus(top->watch, top->selected_key);
    }
}

/* ---- the moment */

static void put_rows_on_screen(struct top *top)
{
    struct top_screen *screen = &top->screen;
    const struct watch_moment *moment = &top->rows.moment;

    screen->host = moment->overview != NULL ? moment->overview->host : NULL;
    screen->host_failed = moment->counts.host_failures > 0;
    screen->lines = top->rows.lines;
    screen->count = top->rows.count;
    screen->sort = top->choice.sort;
    screen->reversed = top->choice.reversed;
    screen->filter = top->choice.filter;
    find_selection(top);
}

int top_take_moment(struct top *top)
{
    struct top_rows rows;
    int rc = top_rows_take(top->watch, &top->choice, &rows);

    if (rc == 0) {
        if (top->has_rows) {
            top_rows_release(&top->rows);
        }
        top->rows = rows;
        top->has_rows = true;
        put_rows_on_screen(top);
    }
    return rc;
}

void top_arrange(struct top *top)
{
    (void)top_rows_arrange(&top->choice, &top->rows); /* else they stay as they were */
    put_rows_on_screen(top);
}

void top_sort_by(struct top *top, int step)
{
    top->choice.sort = (top->choice.sort + step + TOP_SORT_COUNT) % TOP_SORT_COUNT;
    top_arrange(top);
}

void top_fold(struct top *top, bool unfold)
{
    if (top->screen.selected < top->rows.count) {
        top->selected_pid = 0; /* of a member that is hidden, its row is selected */
        top_choice_fold(
            &top->choice, top_rows_of(&top->rows, top->screen.selected)->key, unfold);
        top_arrange(top);
        remember_selection(top);
    }
}

/* ---- the pane */

void top_fill_pane(struct top *top)
{
    struct top_screen *screen = &top->screen;

    buffer_reset(&top->pane);
    if (screen->pane == TOP_PANE_HELP) {
        buffer_append_text(&top->pane, top_help_text());
    } else if (screen->pane == TOP_PANE_DETAIL && screen->selected < top->rows.count) {
        const struct watch_look *look = top_rows_of(&top->rows, screen->selected)->look;
        if (look != NULL && look->full) {
            present_explain_text(&look->account.snapshot, &look->account.list, NULL,
                &top->style, &top->pane);
        } else {
            buffer_append_text(&top->pane, "reading\n");
        }
    }
    screen->pane_text = buffer_text(&top->pane);
}

static size_t count_text_lines(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

void top_scroll_pane(struct top *top, int64_t lines)
{
    struct top_screen *screen = &top->screen;
    const size_t height = top_pane_height(screen);
    const size_t total = count_text_lines(screen->pane_text);
    const int64_t last = total > height ? (int64_t)(total - height) : 0;
    int64_t first = (int64_t)screen->pane_first + lines;

    first = first > last ? last : first;
    screen->pane_first = first > 0 ? (size_t)first : 0;
}

void top_open_pane(struct top *top, enum top_pane pane)
{
    top->screen.pane = top->screen.pane == pane ? TOP_PANE_NONE : pane;
    top->screen.pane_first = 0;
    top->pane_has_keys = top->screen.pane == TOP_PANE_HELP;
    remember_selection(top);
    watch_focus(
        top->watch, top->screen.pane == TOP_PANE_DETAIL ? top->selected_key : NULL);
}

void top_close_pane(struct top *top)
{
    if (top->screen.pane != TOP_PANE_NONE) {
        top_open_pane(top, top->screen.pane);
    }
}

void top_release(struct top *top)
{
    if (top->has_rows) {
        top_rows_release(&top->rows);
    }
    buffer_release(&top->pane);
    top_choice_release(&top->choice);
    free(top->selected_key);
}
