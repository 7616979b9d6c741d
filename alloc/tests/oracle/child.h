/*
 * Runs a program with pipes at both ends.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_CHILD_H
#define STRATA_ALLOC_TESTS_ORACLE_CHILD_H

#include <stddef.h>

/* What the program is, what it reads, and where its output goes. */
struct child_job {
    char *const *arguments; /* as for execvp, NULL at the end */
    const void *input;
    size_t input_bytes;
    void *output;
    size_t output_capacity; /* more output than this is an error */
    size_t output_bytes;    /* result */
    int exit_code;          /* result; -1 when a signal ended it */
};

/*
 * The program reads all of its input before it writes more than a pipe holds, or else both
 * sides wait for ever. Returns 0 or -errno: -ENOENT when there is no such program, -E2BIG
 * when it wrote too much, -EPIPE when it did not read its input. Ignores SIGPIPE from then
 * on.
 */
int child_run(struct child_job *job);

#endif
