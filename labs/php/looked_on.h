/*
 * looked_on.h - a PHP script which stops at each of its points (point.php), so that what
 * it says of itself and what is read from outside are of the same moment.
 */
#ifndef STRATA_LABS_PHP_LOOKED_ON_H
#define STRATA_LABS_PHP_LOOKED_ON_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "lab.h"
#include "outside.h"

struct looked_on {
    pid_t pid;
    int input;    /* a line lets it go on */
    FILE *output; /* what it prints */
    char script[LAB_PATH_BYTES];
};

/* The columns of the labs on real PHP. */
enum outside_column { OUTSIDE_PUBLISHED, OUTSIDE_PHP, OUTSIDE_READ, OUTSIDE_COLUMNS };

struct outside_row {
    int64_t figure[OUTSIDE_COLUMNS];
};

void outside_print_head(const char *what);
void outside_print_row(const char *label, const struct outside_row *row);

/*
 * Starts `php -n` with this script, memory_limit and one argument (or NULL), and lets it
 * run up to its first point. False when PHP is missing, which is said once.
 */
bool looked_on_start(struct lab *lab, struct looked_on *php, const char *script,
    const char *memory_limit, const char *argument);

/*
 * Waits for the script's next point, which must have this name, reads it from outside,
 * expects both to agree to the byte on used, real and both peaks, and lets it go on.
 * PHP's own figures are lab_php_point() from then on.
 */
void looked_on_read(
    struct lab *lab, struct looked_on *php, const char *point, struct outside *outside);

/* Reads what it still prints, until it ends. */
void looked_on_end(struct lab *lab, struct looked_on *php);

#endif
