/* buffer.h - a growing byte buffer; every output of the tool is built in one. */
#ifndef STRATA_BASE_BUFFER_H
#define STRATA_BASE_BUFFER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * data is NUL terminated behind length whenever it is not NULL, so a buffer of text
 * can be used as a string. A failed growth is remembered (failed) and later appends do
 * nothing: a writer checks once, at the end, with buffer_error().
 */
struct buffer {
    char *data;
    size_t length_bytes;
    size_t capacity_bytes;
    bool failed;
};

void buffer_init(struct buffer *buffer);
void buffer_release(struct buffer *buffer);

/* Empties the buffer and keeps its memory. */
void buffer_reset(struct buffer *buffer);

void buffer_append(struct buffer *buffer, const void *data, size_t bytes);
void buffer_append_text(struct buffer *buffer, const char *text);
void buffer_append_char(struct buffer *buffer, char character);
void buffer_printf(struct buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Makes room for bytes more and returns where they go, or NULL; used by readers. */
char *buffer_reserve(struct buffer *buffer, size_t bytes);

/* Says that bytes (at most what was reserved) were written behind length. */
void buffer_commit(struct buffer *buffer, size_t bytes);

/* The text, "" when nothing was appended; never NULL. */
const char *buffer_text(const struct buffer *buffer);

/* 0, or -ENOMEM when an append failed. */
int buffer_error(const struct buffer *buffer);

#endif
