/* mysql_library_none.c - in a static build: a file that links nothing loads nothing. */
#include "facts/mysql_library.h"

#include <errno.h>

int mysql_library_load(struct mysql_library *library, const char **why)
{
    (void)library;
    *why = "this build of strata is static and cannot load libmariadb.so.3: use one that "
           "is not";
    return -ENOENT;
}
