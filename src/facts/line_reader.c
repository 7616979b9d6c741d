/*
 * line_reader.c - smaps of a process with 65,000 mappings is 45 MB of text; it goes through
 * one buffer here.
 *
 * The kernel hands out about a page for each read(2) of such a file and drops the target's
 * lock in between, so a slow reader does not hold the target up.
 */
#include "facts/line_reader.h"

#include <errno.h>
#include <string.h>

#include "base/descriptor.h"

void line_reader_init(struct line_reader *reader, int fd)
{
    reader->fd = fd;
    reader->at_end = false;
    reader->start = 0;
    reader->length_bytes = 0;
    reader->bytes_read = 0;
}

static int fill(struct line_reader *reader)
{
    ssize_t got;

    memmove(reader->buffer, reader->buffer + reader->start,
        reader->length_bytes - reader->start);
    reader->length_bytes -= reader->start;
    reader->start = 0;
    if (reader->length_bytes == LINE_READER_BYTES) {
        return -EINVAL;
    }
    got = descriptor_read(reader->fd, reader->buffer + reader->length_bytes,
        LINE_READER_BYTES - reader->length_bytes);
    if (got < 0) {
        return (int)got;
    }
    reader->at_end = got == 0;
    reader->length_bytes += (size_t)got;
    reader->bytes_read += (uint64_t)got;
    return 0;
}

int line_reader_next(struct line_reader *reader, char **line)
{
    for (;;) {
        char *start = reader->buffer + reader->start;
        size_t left = reader->length_bytes - reader->start;
        char *feed = memchr(start, '\n', left);

        if (feed == NULL && reader->at_end) {
            start[left] = '\0';
            reader->start = reader->length_bytes;
            *line = left == 0 ? NULL : start;
            return 0;
        }
        if (feed != NULL) {
            *feed = '\0';
            reader->start = (size_t)(feed + 1 - reader->buffer);
            *line = start;
            return 0;
        }
        int rc = fill(reader);
        if (rc != 0) {
            return rc;
        }
    }
}
