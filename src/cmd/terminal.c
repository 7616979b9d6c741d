/*
 * terminal.c - the one place that looks at the environment for how to print.
 *
 * A terminal that is wider than a sentence is easy to read gets no wider tables: numbers and
 * their names would drift apart.
 */
#include "cmd/terminal.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { WIDEST = 120 };

bool terminal_is_utf8(void)
{
    return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static bool wants_color(enum color_choice choice)
{
    const char *no_color = getenv("NO_COLOR");
    const char *term = getenv("TERM");

    if (choice != COLOR_AUTO) {
        return choice == COLOR_ALWAYS;
    }
    return isatty(STDOUT_FILENO) == 1 && (no_color == NULL || *no_color == '\0') &&
           term != NULL && *term != '\0' && strcmp(term, "dumb") != 0;
}

int terminal_width(int descriptor)
{
    struct winsize size;

    if (ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) {
        return STYLE_DEFAULT_WIDTH;
    }
    return size.ws_col < WIDEST ? size.ws_col : WIDEST;
}

struct present_style terminal_style(const struct options *options)
{
    return (struct present_style){
        .color = wants_color(options->color),
        .utf8 = terminal_is_utf8(),
        .exact_bytes = options->exact_bytes,
        .unfolded = options->all,
        .width = options->width > 0 ? options->width : terminal_width(STDOUT_FILENO),
    };
}
