/*
 * malloc_info(3): the figures as XML.
 */
#ifndef STRATA_MALLOC_INFO_H
#define STRATA_MALLOC_INFO_H

#include <stdio.h>

/* 0, or EINVAL as glibc's for options other than 0; -1 when the stream takes no bytes. */
__attribute__((visibility("default"))) int malloc_info(int options, FILE *stream);

#endif
