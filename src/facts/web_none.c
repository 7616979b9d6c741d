/*
 * web_none.c - web.c of a static build, which cannot load anything.
 *
 * A library that dlopen brings would bring a second libc with it.
 */
#include "facts/web.h"

#include <errno.h>

#include "facts/web_value.h"

int web_get(const char *url, struct buffer *body, struct error *error)
{
    (void)body;
    return error_set(error, -ENOENT,
        "cannot get '%s': this build of strata is static and cannot load libcurl.so.4: "
        "use one that is not",
        web_shown(url).text);
}
