/* glibc_version.h - the version of libc, from texts in its mapped file. */
#ifndef STRATA_FACTS_GLIBC_VERSION_H
#define STRATA_FACTS_GLIBC_VERSION_H

#include "facts/glibc_reader.h"

/*
 * The minor number of "2.x" from the banner ("GNU C Library ... version 2.36") or, where the
 * page of the banner is not present, from the newest symbol version of the library
 * ("GLIBC_2.36"). 0 when neither can be seen. A hint only: see glibc_find.c.
 */
uint32_t glibc_version_minor(struct glibc_reader *reader, const struct mapping *library);

/* The file is glibc's C library, by its base name. */
bool glibc_is_library(const char *path);

#endif
