/*
 * top_keys.c - what each key of `strata top` does; top_help_text() tells the user of them.
 *
 * Keys that move go to the pane when it has them, else to the rows. While the filter is open
 * every key is typed into it.
 */
#include "cmd/top_keys.h"

#include <stdint.h>
#include <string.h>

#include "cmd/top_terminal.h"

static void move(struct top *top, int64_t lines)
{
    if (top->pane_has_keys) {
        top_scroll_pane(top, lines);
    } else {
        top_select_line(top, (int64_t)top->screen.selected + lines);
    }
}

static bool move_by_key(struct top *top, int key)
{
    const int64_t screenful =
        (int64_t)(top->pane_has_keys ? top_pane_height(&top->screen)
                                     : top_list_height(&top->screen));

    switch (key) {
    case KEY_OF_UP:
    case 'k':
        move(top, -1);
        return true;
    case KEY_OF_DOWN:
    case 'j':
        move(top, 1);
        return true;
    case KEY_OF_PAGE_UP:
        move(top, -screenful);
        return true;
    case KEY_OF_PAGE_DOWN:
        move(top, screenful);
        return true;
    case KEY_OF_HOME:
    case 'g':
        move(top, -INT32_MAX);
        return true;
    case KEY_OF_END:
    case 'G':
        move(top, INT32_MAX);
        return true;
    default:
        return false;
    }
}

static void arrange_by_key(struct top *top, int key)
{
    switch (key) {
    case 's':
        top_sort_by(top, 1);
        break;
    case 'S':
        top_sort_by(top, -1);
        break;
    case 'r':
        top->choice.reversed = !top->choice.reversed;
        top_arrange(top);
        break;
    case KEY_OF_RIGHT:
    case '+':
        top_fold(top, true);
        break;
    case KEY_OF_LEFT:
    case '-':
        top_fold(top, false);
        break;
    default:
        break;
    }
}

static void type_filter(struct top *top, int key)
{
    char *filter = top->choice.filter;
    const size_t bytes = strlen(filter);

    if (key == KEY_OF_ENTER) {
        top->screen.filter_is_open = false;
    } else if (key == KEY_OF_ESCAPE) {
        top->screen.filter_is_open = false;
        filter[0] = '\0';
    } else if (key == KEY_OF_ERASE && bytes > 0) {
        filter[bytes - 1] = '\0';
    } else if (key >= ' ' && key <= 0xff && bytes + 1 < TOP_FILTER_BYTES) {
        filter[bytes] = (char)key;
        filter[bytes + 1] = '\0';
    }
    top_arrange(top);
}

static void act_on_key(struct top *top, int key)
{
    switch (key) {
    case 'q':
        top->done = true;
        break;
    case KEY_OF_ENTER:
        top_open_pane(top, TOP_PANE_DETAIL);
        break;
    case 'h':
    case '?':
        top_open_pane(top, TOP_PANE_HELP);
        break;
    case KEY_OF_ESCAPE:
        top_close_pane(top);
        break;
    case KEY_OF_TAB:
        top->pane_has_keys = top->screen.pane != TOP_PANE_NONE && !top->pane_has_keys;
        break;
    case '/':
        top->screen.filter_is_open = true;
        break;
    case ' ':
    case 'p':
        top->screen.paused = !top->screen.paused;
        watch_pause(top->watch, top->screen.paused);
        break;
    case 'u':
        watch_hurry(top->watch);
        break;
    default:
        arrange_by_key(top, key);
        break;
    }
}

void top_handle_key(struct top *top, int key)
{
    if (key == KEY_OF_NOTHING || key == KEY_OF_SIZE) {
        return;
    }
    if (top->screen.filter_is_open) {
        type_filter(top, key);
    } else if (!move_by_key(top, key)) {
        act_on_key(top, key);
    }
}
