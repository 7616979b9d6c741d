/*
 * quantity.c - numbers as people read them. Pure: no locale, no time zone.
 *
 * Units follow docs/glossary.md: powers of 1024, MiB and GiB with one decimal. A unit never
 * changes below 1 MiB, so that a column of small sizes can be compared by eye.
 */
#include "base/quantity.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

static const double mib_bytes = 1024.0 * 1024.0;
static const double gib_bytes = 1024.0 * 1024.0 * 1024.0;
static const double rounds_to_nothing = 0.05;

enum { SECONDS_IN_MINUTE = 60, SECONDS_IN_HOUR = 3600, SECONDS_IN_DAY = 86400 };

/* A number and the unit that fits it, so that both ends of a range can share one. */
static void format_in(struct quantity *out, const char *sign, uint64_t bytes, bool gib)
{
    double number = (double)bytes / (gib ? gib_bytes : mib_bytes);

    if (bytes > 0 && number < rounds_to_nothing) {
        (void)snprintf(out->text, sizeof(out->text), "%s<0.1", sign);
    } else {
        (void)snprintf(out->text, sizeof(out->text), "%s%.1f", sign, number);
    }
}

/* True from where the MiB would be printed as 1024.0. */
static bool is_gib(uint64_t bytes)
{
    return (double)bytes / mib_bytes >= 1024.0 - rounds_to_nothing;
}

static struct quantity with_sign(const char *sign, uint64_t bytes, bool exact)
{
    struct quantity number;
    struct quantity out;

    if (exact) {
        (void)snprintf(out.text, sizeof(out.text), "%s%" PRIu64 " B", sign, bytes);
        return out;
    }
    format_in(&number, sign, bytes, is_gib(bytes));
    (void)snprintf(out.text, sizeof(out.text), "%.40s %s", number.text,
        is_gib(bytes) ? "GiB" : "MiB");
    return out;
}

struct quantity quantity_bytes(uint64_t bytes, bool exact)
{
    return with_sign("", bytes, exact);
}

struct quantity quantity_mib(uint64_t bytes, bool exact)
{
    struct quantity out;

    if (exact) {
        (void)snprintf(out.text, sizeof(out.text), "%" PRIu64, bytes);
    } else {
        format_in(&out, "", bytes, false);
    }
    return out;
}

static uint64_t magnitude_of(int64_t bytes)
{
    return bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
}

struct quantity quantity_signed_bytes(int64_t bytes, bool exact)
{
    return with_sign(bytes < 0 ? "-" : "+", magnitude_of(bytes), exact);
}

/* Tenths of a MiB, rounded as printf does: half a tenth goes to the even one. */
static int64_t shown_tenths(int64_t bytes)
{
    enum { MIB_BITS = 20 };
    const uint64_t half = UINT64_C(1) << (MIB_BITS - 1);
    const uint64_t product = magnitude_of(bytes) * 10;
    const uint64_t rest = product & (2 * half - 1);
    uint64_t tenths = product >> MIB_BITS;

    tenths += rest > half || (rest == half && tenths % 2 == 1) ? 1 : 0;
    return bytes < 0 ? -(int64_t)tenths : (int64_t)tenths;
}

int64_t quantity_gap(int64_t before, int64_t after, bool exact)
{
    if (exact || is_gib(magnitude_of(before)) || is_gib(magnitude_of(after))) {
        return number_difference(after, before);
    }
    return (shown_tenths(after) - shown_tenths(before)) * (INT64_C(1) << 20) / 10;
}

struct quantity quantity_range(uint64_t low_bytes, uint64_t high_bytes, bool exact)
{
    struct quantity low;
    struct quantity high;
    struct quantity out;
    bool gib = is_gib(high_bytes);

    if (exact) {
        if (low_bytes == high_bytes) {
            return quantity_bytes(low_bytes, true);
        }
        (void)snprintf(out.text, sizeof(out.text), "%" PRIu64 "-%" PRIu64 " B", low_bytes,
            high_bytes);
        return out;
    }
    format_in(&low, "", low_bytes, gib);
    format_in(&high, "", high_bytes, gib);
    for (const char *a = low.text, *b = high.text; *a == *b; a++, b++) {
        if (*a == '\0') {
            return quantity_bytes(high_bytes, false);
        }
    }
    (void)snprintf(out.text, sizeof(out.text), "%.24s-%.24s %s", low.text, high.text,
        gib ? "GiB" : "MiB");
    return out;
}

struct quantity quantity_percent(uint64_t share, uint64_t whole)
{
    struct quantity out = {"-"};

    if (whole > 0) {
        double percent = 100.0 * (double)share / (double)whole;
        (void)snprintf(out.text, sizeof(out.text), "%.1f %%", percent);
    }
    return out;
}

struct quantity quantity_count(uint64_t count, const char *noun)
{
    const size_t bytes = strlen(noun);
    const char *ending = count == 1                            ? ""
                         : bytes > 0 && noun[bytes - 1] == 's' ? "es"
                                                               : "s";
    struct quantity out;

    (void)snprintf(out.text, sizeof(out.text), "%" PRIu64 " %s%s", count, noun, ending);
    return out;
}

const char *quantity_form(uint64_t count, const char *one, const char *many)
{
    return count == 1 ? one : many;
}

struct quantity quantity_seconds(uint64_t seconds)
{
    struct quantity out;

    if (seconds >= SECONDS_IN_DAY) {
        (void)snprintf(out.text, sizeof(out.text), "%" PRIu64 " d %" PRIu64 " h",
            seconds / SECONDS_IN_DAY, seconds % SECONDS_IN_DAY / SECONDS_IN_HOUR);
    } else if (seconds >= SECONDS_IN_HOUR) {
        (void)snprintf(out.text, sizeof(out.text), "%" PRIu64 " h %" PRIu64 " min",
            seconds / SECONDS_IN_HOUR, seconds % SECONDS_IN_HOUR / SECONDS_IN_MINUTE);
    } else if (seconds >= SECONDS_IN_MINUTE) {
        (void)snprintf(
            out.text, sizeof(out.text), "%" PRIu64 " min", seconds / SECONDS_IN_MINUTE);
    } else {
        (void)snprintf(out.text, sizeof(out.text), "%" PRIu64 " s", seconds);
    }
    return out;
}

struct quantity quantity_microseconds(uint64_t microseconds)
{
    struct quantity out;

    if (microseconds >= 1000000) {
        (void)snprintf(out.text, sizeof(out.text), "%.1f s", (double)microseconds / 1e6);
    } else if (microseconds >= 1000) {
        (void)snprintf(out.text, sizeof(out.text), "%.1f ms", (double)microseconds / 1e3);
    } else {
        (void)snprintf(out.text, sizeof(out.text), "%" PRIu64 " us", microseconds);
    }
    return out;
}

/*
 * Days since 1970 as a date, by eras of 400 years that begin on 1 March, so that the leap
 * day ends its year. gmtime_r() is not used: it reads the time zone files.
 */
static void date_of(int64_t days, int64_t *year, int64_t *month, int64_t *day)
{
    enum { DAYS_TO_1970 = 719468, DAYS_IN_ERA = 146097 };
    int64_t shifted = days + DAYS_TO_1970;
    int64_t era = (shifted >= 0 ? shifted : shifted - DAYS_IN_ERA + 1) / DAYS_IN_ERA;
    int64_t day_of_era = shifted - era * DAYS_IN_ERA;
    int64_t year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    int64_t day_of_year =
        day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    int64_t month_from_march = (5 * day_of_year + 2) / 153;

    *day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
    *month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
    *year = year_of_era + era * 400 + (*month <= 2 ? 1 : 0);
}

struct quantity quantity_time(int64_t unix_ns)
{
    const int64_t ns_in_second = 1000000000;
    int64_t seconds = unix_ns / ns_in_second - (unix_ns % ns_in_second < 0 ? 1 : 0);
    int64_t days = seconds / SECONDS_IN_DAY - (seconds % SECONDS_IN_DAY < 0 ? 1 : 0);
    int64_t rest = seconds - days * SECONDS_IN_DAY;
    int64_t year;
    int64_t month;
    int64_t day;
    struct quantity out;

    date_of(days, &year, &month, &day);
    (void)snprintf(out.text, sizeof(out.text),
        "%04" PRId64 "-%02" PRId64 "-%02" PRId64 "T%02" PRId64 ":%02" PRId64 ":%02" PRId64
        "Z",
        year, month, day, rest / SECONDS_IN_HOUR,
        rest % SECONDS_IN_HOUR / SECONDS_IN_MINUTE, rest % SECONDS_IN_MINUTE);
    return out;
}
