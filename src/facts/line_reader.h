/* line_reader.h - lines of a file of any length, in memory of fixed size. */
#ifndef STRATA_FACTS_LINE_READER_H
#define STRATA_FACTS_LINE_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A path has at most 4 KiB, four times that when every byte is escaped. */
enum { LINE_READER_BYTES = 64 << 10 };

struct line_reader {
    int fd;
    bool at_end;
    size_t start; /* of the first line that was not handed out */
    size_t length_bytes;
    uint64_t bytes_read; /* in all, for the stated cost */
    char buffer[LINE_READER_BYTES + 1];
};

/* Reads from fd, which stays the caller's. */
void line_reader_init(struct line_reader *reader, int fd);

/*
 * *line becomes the next line without its line feed, valid until the next call, or NULL at
 * the end. 0; -EINVAL: a line longer than the buffer; or -errno of read.
 */
int line_reader_next(struct line_reader *reader, char **line);

#endif
