/* program_text.h - looks for texts in a program's file, to recognise what is linked into it. */
#ifndef STRATA_FACTS_PROGRAM_TEXT_H
#define STRATA_FACTS_PROGRAM_TEXT_H

#include <stdbool.h>
#include <stddef.h>

#include "facts/process_folder.h"

struct program_text {
    const char *text; /* bytes to look for; may hold any */
    size_t bytes;     /* at most PROGRAM_TEXT_MAX_BYTES */
    bool found;
};

enum { PROGRAM_TEXT_MAX_BYTES = 64 };

/*
 * Reads /proc/PID/exe, which is the file the process runs even when it was deleted since, up
 * to a limit of its size, and marks the texts that occur in it. 0, -ESRCH, -EACCES, -ENOMEM
 * or -errno.
 */
int program_text_search(
    struct process_folder *folder, struct program_text *texts, size_t count);

#endif
