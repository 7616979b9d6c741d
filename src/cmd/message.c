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
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/terminal.h"
#include "present/safe_text.h"

static int write_all(int descriptor, const char *data, size_t bytes)
{
    while (bytes > 0) {
        ssize_t written = write(descriptor, data, bytes);
        if (written < 0) {
            if (errno == EINTR) {
                continue;
            }
            return -errno;
        }
        data += written;
        bytes -= (size_t)written;
    }
    return 0;
}

void complain(const char *format, ...)
{
    struct buffer line;
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    if (vasprintf(&text, format, arguments) < 0) {
        text = NULL;
    }
    va_end(arguments);
    buffer_init(&line);
    buffer_append_text(&line, "strata: ");
    for (char *at = text; at != NULL; at = strchr(at, '\n')) {
        at += at != text ? 1 : 0;
        char *end = strchr(at, '\n');
        char *part = strndup(at, end != NULL ? (size_t)(end - at) : strlen(at));
        safe_text_append(&line, part != NULL ? part : "?", terminal_is_utf8());
        free(part);
        buffer_append_char(&line, '\n');
    }
    /* There is nowhere left to report that standard error cannot be written. */
    (void)write_all(STDERR_FILENO, buffer_text(&line), line.length_bytes);
    buffer_release(&line);
    free(text);
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
        write_all(STDOUT_FILENO, buffer_text(buffer), buffer->length_bytes));
}

int print_end(void)
{
    return cannot_write(close(STDOUT_FILENO) == 0 ? 0 : -errno);
}
