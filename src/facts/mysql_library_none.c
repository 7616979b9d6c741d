/*
 * mysql_library_none.c - mysql_library.c of a static build, which cannot load anything.
 *
 * A library that dlopen brings would bring a second libc with it.
 */
#include "facts/mysql_library.h"

#include <errno.h>

int mysql_library_load(struct mysql_library *library, const char **why)
{
    (void)library;
    *why = "this build of strata is static and cannot load libmariadb.so.3: use one that "
           "is not";
    return -ENOENT;
}
