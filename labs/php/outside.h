/*
 * outside.h - what `strata explain PID --json` says of one PHP process.
 */
#ifndef STRATA_LABS_PHP_OUTSIDE_H
#define STRATA_LABS_PHP_OUTSIDE_H

#include <stdint.h>
#include <sys/types.h>

/* Bytes and counts; LAB_UNKNOWN where the tool gives none. */
struct outside {
    int64_t used;
    int64_t real;
    int64_t peak_used;
    int64_t peak_real;
    int64_t limit;
    int64_t chunks;
    int64_t cached_chunks;
    int64_t half_chunks; /* that hold a run of 256 pages or more */
    int64_t rss;
};

/*
 * Runs the tool: STRATA_PROGRAM, or the one beside the labs. Ends the program when that
 * cannot be run, or when it does not find exactly one heap whose figures add up.
 */
void outside_read(pid_t pid, struct outside *outside);

#endif
