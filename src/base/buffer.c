/*
 * buffer.c - growth by doubling, failure remembered.
 *
 * Invariant: data == NULL and capacity_bytes == 0, or capacity_bytes > length_bytes and
 * data[length_bytes] == '\0'. A failed allocation leaves the content as it was.
 */
#include "base/buffer.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"

enum { FIRST_CAPACITY_BYTES = 256 };

void buffer_init(struct buffer *buffer)
{
    *buffer = (struct buffer){0};
}

void buffer_release(struct buffer *buffer)
{
    free(buffer->data);
    buffer_init(buffer);
}

void buffer_reset(struct buffer *buffer)
{
    buffer->length_bytes = 0;
    buffer->failed = false;
    if (buffer->data != NULL) {
        buffer->data[0] = '\0';
    }
}

char *buffer_reserve(struct buffer *buffer, size_t bytes)
{
    size_t capacity = buffer->capacity_bytes;

    if (buffer->failed || bytes > SIZE_MAX / 4 - buffer->length_bytes) {
        buffer->failed = true;
        return NULL;
    }
    if (capacity == 0) {
        capacity = FIRST_CAPACITY_BYTES;
    }
    while (capacity <= buffer->length_bytes + bytes) {
        capacity *= 2;
    }
    if (capacity != buffer->capacity_bytes) {
        char *data = realloc(buffer->data, capacity);
        if (data == NULL) {
            buffer->failed = true;
            return NULL;
        }
        buffer->data = data;
        buffer->capacity_bytes = capacity;
        buffer->data[buffer->length_bytes] = '\0';
    }
    return buffer->data + buffer->length_bytes;
}

void buffer_commit(struct buffer *buffer, size_t bytes)
{
    BUG_IF(buffer->length_bytes + bytes >= buffer->capacity_bytes);
    buffer->length_bytes += bytes;
    buffer->data[buffer->length_bytes] = '\0';
}

void buffer_append(struct buffer *buffer, const void *data, size_t bytes)
{
    char *place = buffer_reserve(buffer, bytes);

    if (place != NULL && bytes > 0) {
        memcpy(place, data, bytes);
        buffer_commit(buffer, bytes);
    }
}

void buffer_append_text(struct buffer *buffer, const char *text)
{
    buffer_append(buffer, text, strlen(text));
}

void buffer_append_char(struct buffer *buffer, char character)
{
    buffer_append(buffer, &character, 1);
}

void buffer_printf(struct buffer *buffer, const char *format, ...)
{
    va_list arguments;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (bytes < 0) {
        buffer->failed = true;
        return;
    }
    char *place = buffer_reserve(buffer, (size_t)bytes + 1);
    if (place == NULL) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(place, (size_t)bytes + 1, format, arguments);
    va_end(arguments);
    buffer_commit(buffer, (size_t)bytes);
}

const char *buffer_text(const struct buffer *buffer)
{
    return buffer->data == NULL ? "" : buffer->data;
}

int buffer_error(const struct buffer *buffer)
{
    return buffer->failed ? -ENOMEM : 0;
}
