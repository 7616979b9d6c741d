/* library.h - the functions of a library that dlopen(3) has loaded. */
#ifndef STRATA_BASE_LIBRARY_H
#define STRATA_BASE_LIBRARY_H

#include <stdbool.h>
#include <stddef.h>

/* place is that of a pointer to the function. */
struct library_function {
    const char *name;
    void *place;
};

/* Sets all places; false when the library lacks one of the functions. */
bool library_take(void *library, const struct library_function *functions, size_t count);

#endif
