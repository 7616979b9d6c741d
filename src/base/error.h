/* error.h - the context of a failure that is carried upwards to the command line. */
#ifndef STRATA_BASE_ERROR_H
#define STRATA_BASE_ERROR_H

enum { ERROR_TEXT_BYTES = 1024 };

/* The first failure wins: error_set() on a struct that holds one already does nothing. */
struct error {
    int code; /* -errno of the failure, 0 while there is none */
    char text[ERROR_TEXT_BYTES];
};

/* Empties the struct for another use. */
void error_reset(struct error *error);

/*
 * Stores code (a negative errno) and the formatted text unless error is NULL or
 * already holds a failure, and returns code, so that a caller can write
 * return error_set(error, -ENOENT, "cannot open '%s': ...", path).
 * Text style: lower case, what failed first, the subject in quotes, why, what helps.
 */
int error_set(struct error *error, int code, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/*
 * The text of what was stored, or of code (a negative errno) when nothing was: some failures
 * are lacks of memory deep down, which say no more than that. Valid as long as error is.
 */
const char *error_text(const struct error *error, int code);

#endif
