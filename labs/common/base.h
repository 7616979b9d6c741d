/*
 * base.h - what every lab has in common: how it ends, and how it says "not known".
 */
#ifndef STRATA_LABS_COMMON_BASE_H
#define STRATA_LABS_COMMON_BASE_H

#include <stdint.h>

/* In place of a figure that could not be had. */
#define LAB_UNKNOWN INT64_MIN

#define LAB_MIB (INT64_C(1) << 20)

/* Exit codes of a lab. */
enum lab_exit {
    LAB_EXIT_DIFFERENT = 1, /* with --check: a figure differs which must not */
    LAB_EXIT_USAGE = 2,
    LAB_EXIT_PARTIAL = 5, /* something the lab needs is missing; it says what */
};

/* Text of a size in MiB with one decimal, or a dash; bytes of it. */
enum { LAB_CELL_BYTES = 32 };
struct lab_cell {
    char text[LAB_CELL_BYTES];
};
struct lab_cell lab_mebibytes(int64_t bytes);

/* a - b, or LAB_UNKNOWN when one of them is. */
int64_t lab_difference(int64_t a, int64_t b);

/* Ends the program: the lab cannot go on without what failed. */
_Noreturn void lab_die(const char *what);

/* The same, with the thing it happened to. */
_Noreturn void lab_die_of(const char *what, const char *subject, int error);

/* Sleeps; goes on when a signal comes. */
void lab_sleep_ms(int64_t milliseconds);

/* A clock that only goes forward. */
int64_t lab_now_ms(void);

#endif
