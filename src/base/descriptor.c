/*
 * descriptor.c - a call that a signal interrupted is made again; a part that was read or
 * written is followed by the rest. Nothing is opened or closed here.
 */
#include "base/descriptor.h"

#include <errno.h>
#include <unistd.h>

enum { READ_STEP_BYTES = 64 << 10 };

ssize_t descriptor_read(int fd, void *data, size_t bytes)
{
    ssize_t got;

    do {
        got = read(fd, data, bytes);
    } while (got < 0 && errno == EINTR);
    return got < 0 ? -errno : got;
}

int descriptor_read_all(int fd, size_t maximum_bytes, struct buffer *buffer)
{
    for (;;) {
        char *place = buffer_reserve(buffer, READ_STEP_BYTES);
        if (place == NULL) {
            return -ENOMEM;
        }
        ssize_t got = descriptor_read(fd, place, READ_STEP_BYTES);
        if (got <= 0) {
            return (int)got;
        }
        if (buffer->length_bytes > maximum_bytes ||
            (size_t)got > maximum_bytes - buffer->length_bytes) {
            *place = '\0'; /* the buffer stays a text of what was committed */
            return -EFBIG;
        }
        buffer_commit(buffer, (size_t)got);
    }
}

int descriptor_write_all(int fd, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        ssize_t put = write(fd, at, bytes);
        if (put < 0 && errno == EINTR) {
            continue;
        }
        if (put < 0) {
            return -errno;
        }
        at += put;
        bytes -= (size_t)put;
    }
    return 0;
}
