/* duration.h - spans of time and sizes as people type them: "5s", "1h30m", "256M". */
#ifndef STRATA_BASE_DURATION_H
#define STRATA_BASE_DURATION_H

#include <stdint.h>

/* A thousand years: the sum with any clock still fits into 64 bits with a sign. */
#define DURATION_MOST_MS (UINT64_C(365250) * 24 * 60 * 60 * 1000)

/*
 * "500ms", "5s", "10m", "1h30m", "2d": numbers with units, largest unit first or not; a
 * number alone is seconds. 0; -EINVAL for anything else, also for nothing; -ERANGE when
 * it is more than DURATION_MOST_MS.
 */
int duration_parse(const char *text, uint64_t *milliseconds);

/* "4096", "64K", "256M", "2G", "1T", the letter also as "KiB" and so on; powers of 1024. */
int size_parse(const char *text, uint64_t *bytes);

#endif
