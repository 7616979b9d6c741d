/* top_terminal.h - the terminal of `strata top`: keys in, lines out. */
#ifndef STRATA_CMD_TOP_TERMINAL_H
#define STRATA_CMD_TOP_TERMINAL_H

#include <stdbool.h>

#include "base/error.h"

/* Keys without a character; characters are their own value. */
enum top_key {
    KEY_OF_NOTHING = -1, /* none came in time */
    KEY_OF_UP = 1000,
    KEY_OF_DOWN,
    KEY_OF_LEFT,
    KEY_OF_RIGHT,
    KEY_OF_PAGE_UP,
    KEY_OF_PAGE_DOWN,
    KEY_OF_HOME,
    KEY_OF_END,
    KEY_OF_ENTER,
    KEY_OF_ESCAPE,
    KEY_OF_TAB,
    KEY_OF_ERASE,
    KEY_OF_SIZE, /* the screen has another size now, or was away */
    KEY_OF_OTHER,
};

/* Takes the terminal over. 0, or -ENOTTY or -ENOTSUP with error set. */
int top_terminal_open(bool color, struct error *error);

/* Gives it back as it was; also when it is not open. */
void top_terminal_close(void);

/* A signal asked to end: the loop should. */
bool top_terminal_is_ending(void);

/* Waits at most so long for a key. */
int top_terminal_key(int milliseconds);

int top_terminal_width(void);
int top_terminal_height(void);

/* Shows lines with the inks of a page, each cut at the width; selected_line is marked, -1: none. */
void top_terminal_paint(const char *lines, int selected_line);

#endif
