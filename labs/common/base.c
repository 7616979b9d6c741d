/*
 * base.c - how labs end, sleep and write sizes. Errors go to standard error, since what a
 * lab prints is a table that may be read by a program.
 */
#include "base.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MS_PER_SECOND = 1000, NS_PER_MS = 1000000 };

struct lab_cell lab_mebibytes(int64_t bytes)
{
    struct lab_cell cell = {"-"};

    if (bytes != LAB_UNKNOWN) {
        (void)snprintf(
            cell.text, sizeof(cell.text), "%.1f", (double)bytes / (double)LAB_MIB);
    }
    return cell;
}

int64_t lab_difference(int64_t a, int64_t b)
{
    return a == LAB_UNKNOWN || b == LAB_UNKNOWN ? LAB_UNKNOWN : a - b;
}

_Noreturn void lab_die(const char *what)
{
    (void)fflush(stdout);
    (void)fprintf(stderr, "lab: cannot go on: %s\n", what);
    exit(LAB_EXIT_DIFFERENT);
}

_Noreturn void lab_die_of(const char *what, const char *subject, int error)
{
    (void)fflush(stdout);
    (void)fprintf(
        stderr, "lab: cannot go on: %s '%s': %s\n", what, subject, strerror(error));
    exit(LAB_EXIT_DIFFERENT);
}

void lab_sleep_ms(int64_t milliseconds)
{
    struct timespec left = {.tv_sec = milliseconds / MS_PER_SECOND,
        .tv_nsec = milliseconds % MS_PER_SECOND * NS_PER_MS};

    while (nanosleep(&left, &left) != 0 && errno == EINTR) {
    }
}

int64_t lab_now_ms(void)
{
    struct timespec now;

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * MS_PER_SECOND + now.tv_nsec / NS_PER_MS;
}
