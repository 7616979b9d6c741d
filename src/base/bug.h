/* bug.h - abort on our own mistakes; never used for what the world does wrong. */
#ifndef STRATA_BASE_BUG_H
#define STRATA_BASE_BUG_H

#include <stdbool.h>

/*
 * BUG_IF(cond) ends the program when an invariant of our own code is broken. It
 * stays in release builds: a wrong number shown as true is worse than an abort.
 */
#define BUG_IF(condition)                                                                \
    do {                                                                                 \
        if (__builtin_expect((condition), 0)) {                                          \
            bug_abort(__FILE__, __LINE__, #condition);                                   \
        }                                                                                \
    } while (false)

/* Writes "BUG: file:line: text" to standard error and aborts. Async-signal safe. */
_Noreturn void bug_abort(const char *file, int line, const char *text);

#endif
