/* style.h - how text for people is to look; decided by cmd, obeyed by every renderer. */
#ifndef STRATA_PRESENT_STYLE_H
#define STRATA_PRESENT_STYLE_H

#include <stdbool.h>

enum { STYLE_DEFAULT_WIDTH = 80, STYLE_MINIMUM_WIDTH = 60 };

struct present_style {
    bool color;       /* ANSI colours are understood */
    bool utf8;        /* the terminal shows UTF-8: bars, rules and names may use it */
    bool exact_bytes; /* integers instead of MiB with one decimal */
    bool unfolded;    /* every part, arena and finding in full */
    int width;        /* columns; 0 or less than the minimum means the minimum */
};

#endif
