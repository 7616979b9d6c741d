/*
 * program_text.c - searches the file of a running program for byte strings.
 *
 * The file is read, not the process's memory: pages of texts that were never printed are not
 * present there, and reading them would make them so. Read in pieces that overlap, so that a
 * text across the border is seen and our own memory stays small.
 */
#include "facts/program_text.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/bug.h"
#include "base/descriptor.h"

enum { PIECE_BYTES = 1 << 20, MAXIMUM_FILE_BYTES = 512 << 20 };

static bool mark(const char *data, size_t bytes, struct program_text *texts, size_t count)
{
    bool all = true;

    for (size_t i = 0; i < count; i++) {
        if (!texts[i].found) {
            texts[i].found = memmem(data, bytes, texts[i].text, texts[i].bytes) != NULL;
        }
        all = all && texts[i].found;
    }
    return all;
}

static int search(int fd, char *data, struct program_text *texts, size_t count)
{
    size_t kept = 0;
    uint64_t total = 0;

    while (total < MAXIMUM_FILE_BYTES) {
        const ssize_t got = descriptor_read(fd, data + kept, PIECE_BYTES);
        if (got <= 0) {
            return (int)got;
        }
        const size_t bytes = kept + (size_t)got;
        if (mark(data, bytes, texts, count)) {
            return 0;
        }
        kept = bytes < PROGRAM_TEXT_MAX_BYTES ? bytes : PROGRAM_TEXT_MAX_BYTES;
        memmove(data, data + bytes - kept, kept);
        total += (uint64_t)got;
    }
    return 0;
}

int program_text_search(
    struct process_folder *folder, struct program_text *texts, size_t count)
{
    char *data;
    int result;
    int fd = process_folder_open_file(folder, "exe");

    if (fd < 0) {
        return fd;
    }
    for (size_t i = 0; i < count; i++) {
        BUG_IF(texts[i].bytes == 0 || texts[i].bytes > PROGRAM_TEXT_MAX_BYTES);
        texts[i].found = false;
    }
    data = malloc(PIECE_BYTES + PROGRAM_TEXT_MAX_BYTES);
    result = data == NULL ? -ENOMEM : search(fd, data, texts, count);
    free(data);
    close(fd);
    return result;
}
