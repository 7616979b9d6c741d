/* input_file.h - files that a user named, opened for reading without ever waiting. */
#ifndef STRATA_BASE_INPUT_FILE_H
#define STRATA_BASE_INPUT_FILE_H

/*
 * Is path a regular file? 0, or -errno, and why in words: "it is a folder". For what is opened
 * by a library.
 */
int input_file_check(const char *path, const char **why);

/*
 * Opens a regular file, or a pipe of this process, as a shell makes it for <(command): that one
 * has an end. A named pipe may never have a writer, a device no end; they are refused, as folders
 * are. A descriptor, or -errno, and why in words.
 */
int input_file_open(const char *path, const char **why);

#endif
