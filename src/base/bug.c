/*
 * bug.c - the one place where a broken invariant ends the program.
 *
 * The message is written with write(2) only, from the stack: the heap may be what
 * is broken. Safe to call from any thread and from a signal handler.
 */
#include "base/bug.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void write_text(const char *text)
{
    size_t left = strlen(text);

    while (left > 0) {
        ssize_t done = write(STDERR_FILENO, text, left);
        if (done <= 0) {
            return;
        }
        text += done;
        left -= (size_t)done;
    }
}

void bug_abort(const char *file, int line, const char *text)
{
    char digits[12];
    size_t at = sizeof(digits) - 1;

    digits[at] = '\0';
    do {
        digits[--at] = (char)('0' + line % 10);
        line /= 10;
    } while (line > 0 && at > 0);

    write_text("BUG: ");
    write_text(file);
    write_text(":");
    write_text(&digits[at]);
    write_text(": ");
    write_text(text);
    write_text("\n");
    abort();
}
