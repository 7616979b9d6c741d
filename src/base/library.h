/* library.h - functions of a library that is loaded by dlopen(3), where it is installed. */
#ifndef STRATA_BASE_LIBRARY_H
#define STRATA_BASE_LIBRARY_H

#include <stddef.h>

/* place is that of a pointer to the function. */
struct library_function {
    const char *name;
    void *place;
};

/*
 * Loads the first of names, which end with NULL, that is installed, and sets all places. It is
 * never unloaded. 0; -ENOENT: none is installed; -ENOSYS: it lacks one of the functions.
 */
int library_load(
    const char *const *names, const struct library_function *functions, size_t count);

#endif
