/*
 * version.c - the version, which the build passes in, in one place for all of the program.
 *
 * It stands in recordings too: whoever reads one later can tell whose rules judged it.
 */
#include "cmd/version.h"

const char *version_text(void)
{
    return STRATA_VERSION;
}
