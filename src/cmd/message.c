/*
 * message.c - everything that leaves the program.
 *
 * Output is written with write(2) in one go, so that an error is known for what it is:
 * stdio would report a full disk at exit, or never. SIGPIPE is ignored by main.c; a reader
 * that went away is an error like any other, since a script behind a pipe must not take a
 * cut document for a whole one.
 */
#include "cmd/message.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cmd/terminal.h"
#include "present/safe_text.h"

/* Said when even a message finds no memory. */
static const char no_memory[] =
    "strata: out of memory, also for the words of what failed\n";

/* The lines of text, safe to show, each with its end. */
static void append_lines(struct buffer *lines, const char *text)
{
    while (true) {
        size_t bytes = strcspn(text, "\n");
        char *line = strndup(text, bytes);
        if (line == NULL) {
            lines->failed = true;
            return;
        }
        safe_text_append(lines, line, terminal_is_utf8());
        buffer_append_char(lines, '\n');
        free(line);
        if (text[bytes] == '\0') {
            return;
        }
        text += bytes + 1;
    }
}

void complain(const char *format, ...)
{
    struct buffer lines;
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    buffer_init(&lines);
    buffer_append_text(&lines, "strata: ");
    append_lines(&lines, bytes >= 0 ? text : strerror(ENOMEM));
    /* There is nowhere left to report that standard error cannot be written. */
    if (buffer_error(&lines) != 0) {
        (void)descriptor_write_all(STDERR_FILENO, no_memory, strlen(no_memory));
    } else {
        (void)descriptor_write_all(
            STDERR_FILENO, buffer_text(&lines), lines.length_bytes);
    }
    buffer_release(&lines);
    if (bytes >= 0) {
        free(text);
    }
}

static int cannot_write(int rc)
{
    if (rc != 0) {
        complain("cannot write to standard output: %s", strerror(-rc));
    }
    return rc;
}

int print_buffer(const struct buffer *buffer)
{
    if (buffer_error(buffer) != 0) {
        return cannot_write(-ENOMEM);
    }
    return cannot_write(
        descriptor_write_all(STDOUT_FILENO, buffer_text(buffer), buffer->length_bytes));
}

int print_end(void)
{
    return cannot_write(close(STDOUT_FILENO) == 0 ? 0 : -errno);
}
