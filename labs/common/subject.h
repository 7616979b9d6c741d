/*
 * subject.h - a program that a lab starts, looks at, and ends.
 */
#ifndef STRATA_LABS_COMMON_SUBJECT_H
#define STRATA_LABS_COMMON_SUBJECT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "box.h"

struct subject {
    pid_t pid;
    int input;    /* lines for it; -1 with a log */
    FILE *output; /* lines from it; NULL with a log */
};

struct subject_start {
    const char *const *arguments; /* as for execvp */
    char *const *environment;     /* NAME=VALUE to set, NULL at the end, or NULL */
    const struct box *box; /* it runs in there from its first instruction; or NULL */
    const char *log;       /* a file for what it says, instead of pipes; or NULL */
};

/*
 * Starts it, without the settings of malloc that are in our environment. It is killed when
 * we die. 0 or -errno (-ENOENT: no such program).
 */
int subject_begin(struct subject *subject, const struct subject_start *start);

/* The next line, without its end; false at the end of its output. */
bool subject_line(struct subject *subject, char *line, size_t bytes);

/* Gives it a line; ends the program when it does not listen. */
void subject_tell(const struct subject *subject, const char *line);

/* True while it has not ended. */
bool subject_runs(struct subject *subject);

/*
 * Asks it to end (closed input, or SIGTERM when it has a log), kills it after that many
 * milliseconds, and waits. Its status as of waitpid(2), or -1 when it had been waited for.
 */
int subject_end(struct subject *subject, int64_t patience_ms);

#endif
