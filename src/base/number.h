/* number.h - numbers out of text that may be anything, and sums that may not wrap. */
#ifndef STRATA_BASE_NUMBER_H
#define STRATA_BASE_NUMBER_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Reads an unsigned number in base (10 or 16, no prefix, no sign, no blanks) at *text
 * and moves *text behind it. 0, or -EINVAL without a digit, or -ERANGE past 64 bits;
 * on failure neither output changes.
 */
int number_read(const char **text, int base, uint64_t *value);

/* The whole of text is one decimal number: 0, -EINVAL or -ERANGE. */
int number_parse(const char *text, uint64_t *value);

/* a + b, or UINT64_MAX when that does not fit. */
uint64_t number_add(uint64_t a, uint64_t b);

/* a - b, or 0 when b is larger. */
uint64_t number_subtract(uint64_t a, uint64_t b);

/* a - b, or as far as it goes when that does not fit. */
int64_t number_difference(int64_t a, int64_t b);

/* number x factor (0 or more), rounded down, or the largest number when that does not fit. */
uint64_t number_scale(uint64_t number, double factor);

/* The smaller of the two. */
uint64_t number_smaller(uint64_t a, uint64_t b);

/* kib * 1024, or UINT64_MAX when that does not fit. */
uint64_t number_from_kib(uint64_t kib);

#endif
