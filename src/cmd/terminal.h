/* terminal.h - what the terminal can show, and what the user wants of it. */
#ifndef STRATA_CMD_TERMINAL_H
#define STRATA_CMD_TERMINAL_H

#include <stdbool.h>

#include "cmd/options.h"
#include "present/style.h"

/* The locale's characters are UTF-8; setlocale() must have been called. */
bool terminal_is_utf8(void);

/* Columns of the terminal behind a descriptor, at most 120; 80 when it is none or says nothing. */
int terminal_width(int descriptor);

/*
 * Colour: as --color says; auto is on for a terminal that is not TERM=dumb, unless
 * NO_COLOR is set to something. Width: --width, else the terminal's, else 80.
 */
struct present_style terminal_style(const struct options *options);

#endif
