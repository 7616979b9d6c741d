/*
 * The functions of strata/malloc.h; nothing else.
 */
#ifndef STRATA_MALLOC_API_H
#define STRATA_MALLOC_API_H

#include "strata/malloc.h"

#endif
