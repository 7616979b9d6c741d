/*
 * The number of a record for each block, beside its unit. Zero: the block has none, which
 * it is again when it is freed, so a unit that goes to another class has none.
 */
#ifndef STRATA_TAG_NUMBERS_H
#define STRATA_TAG_NUMBERS_H

#include <stdint.h>

/* Where the number of a block stands; NULL: nowhere. No lock. */
uint16_t *strata__tag_number(const void *block);
/* The same, made if need be; NULL: no memory for it. One caller at a time. */
uint16_t *strata__tag_make_number(const void *block);

#endif
