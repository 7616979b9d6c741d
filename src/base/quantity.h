/* quantity.h - sizes, shares and times as short texts for people. */
#ifndef STRATA_BASE_QUANTITY_H
#define STRATA_BASE_QUANTITY_H

#include <stdbool.h>
#include <stdint.h>

enum { QUANTITY_TEXT_BYTES = 64 };

/* Returned by value, so that a caller can write quantity_bytes(...).text in a call. */
struct quantity {
    char text[QUANTITY_TEXT_BYTES];
};

/*
 * "343.9 MiB", from 1 GiB on "1.2 GiB"; more than nothing but less than 0.05 MiB is
 * "<0.1 MiB", so that 0.0 means none. With exact: "360710144 B".
 */
struct quantity quantity_bytes(uint64_t bytes, bool exact);

/* The same without the unit, always in MiB ("1228.8"): for a table whose head names it. */
struct quantity quantity_mib(uint64_t bytes, bool exact);

/* With a sign, also for zero: "+351.6 MiB", "-0.3 MiB", "+0.0 MiB". */
struct quantity quantity_signed_bytes(int64_t bytes, bool exact);

/*
 * after - before, as a reader would subtract the two texts: of amounts that are shown in MiB
 * the shown ones are subtracted, so that the column adds up. With exact, or from 1 GiB
 * on, where a tenth is much, the bytes.
 */
int64_t quantity_gap(int64_t before, int64_t after, bool exact);

/* "330.0-370.0 MiB"; one number when both ends read the same. */
struct quantity quantity_range(uint64_t low_bytes, uint64_t high_bytes, bool exact);

/* "46.3 %" of whole; "-" when whole is 0. */
struct quantity quantity_percent(uint64_t share, uint64_t whole);

/* "4 d 3 h", "12 min", "8 s": the two largest units. */
struct quantity quantity_seconds(uint64_t seconds);

/* "12.4 ms", "850 us", "1.2 s" */
struct quantity quantity_microseconds(uint64_t microseconds);

/*
 * A count with its noun: "1 worker", "0 workers", "2 processes". noun is in the singular, and its
 * plural ends in s, or in es behind an s. No other place puts the two together.
 */
struct quantity quantity_count(uint64_t count, const char *noun);

/* one when count is 1, else many: "was" or "were". */
const char *quantity_form(uint64_t count, const char *one, const char *many);

/* RFC 3339 in UTC, "2026-11-30T12:52:31Z"; fractions of the second are cut off. */
struct quantity quantity_time(int64_t unix_ns);

#endif
