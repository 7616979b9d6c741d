/* input_file.h - whether what a user named can be read to an end, and without waiting. */
#ifndef STRATA_BASE_INPUT_FILE_H
#define STRATA_BASE_INPUT_FILE_H

#include <fcntl.h>

/* How to open it: no wait for the writer of a named pipe, no terminal taken over. */
enum { INPUT_FILE_FLAGS = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY };

/* Is path a regular file? 0, or -errno, and why in words: "it is a folder". */
int input_file_check(const char *path, const char **why);

/*
 * Is fd, opened with INPUT_FILE_FLAGS, a regular file, or a pipe of this process, as a shell makes
 * it for <(command)? That one has an end, and reads of it wait from now on. A named pipe may
 * never have a writer, a device no end: they are refused, as folders are. 0, or -errno, and why.
 */
int input_file_accept(int fd, const char **why);

#endif
