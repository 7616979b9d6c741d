/*
 * error.c - first failure wins.
 *
 * A failure is described where it is first seen; callers add nothing on the way up,
 * so the text stays one sentence.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

void error_reset(struct error *error)
{
    error->code = 0;
    error->text[0] = '\0';
}

int error_set(struct error *error, int code, const char *format, ...)
{
    va_list arguments;

    BUG_IF(code >= 0);
    if (error == NULL || error->code != 0) {
        return code;
    }
    error->code = code;
    va_start(arguments, format);
    (void)vsnprintf(error->text, sizeof(error->text), format, arguments);
    va_end(arguments);
    return code;
}

const char *error_text(const struct error *error, int code)
{
    return error->code != 0 ? error->text : strerror(-code);
}
