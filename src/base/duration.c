/*
 * duration.c - numbers with units.
 *
 * Units are exact multiples: a month is none. Nothing is guessed: what could be read in two
 * ways is refused, since a wrong interval would run for hours before it is seen.
 */
#include "base/duration.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"

struct unit {
    const char *name;
    uint64_t factor;
};

static const struct unit time_units[] = {
    {"ms", 1},
    {"s", 1000},
    {"min", 60 * 1000},
    {"m", 60 * 1000},
    {"h", 60 * 60 * 1000},
    {"d", 24 * 60 * 60 * 1000},
    {NULL, 0},
};

static const struct unit size_units[] = {
    {"KiB", UINT64_C(1) << 10},
    {"MiB", UINT64_C(1) << 20},
    {"GiB", UINT64_C(1) << 30},
    {"TiB", UINT64_C(1) << 40},
    {"K", UINT64_C(1) << 10},
    {"M", UINT64_C(1) << 20},
    {"G", UINT64_C(1) << 30},
    {"T", UINT64_C(1) << 40},
    {"B", 1},
    {NULL, 0},
};

/* One number and its unit; a missing unit is allowed at the end only. */
static int read_term(
    const char **text, const struct unit *units, uint64_t without_unit, uint64_t *product)
{
    uint64_t factor = 0;
    uint64_t number;
    int rc = number_read(text, 10, &number);

    if (rc != 0) {
        return rc;
    }
    if (**text == '\0') {
        factor = without_unit;
    }
    for (const struct unit *unit = units; factor == 0 && unit->name != NULL; unit++) {
        const size_t bytes = strlen(unit->name);
        if (strncmp(*text, unit->name, bytes) == 0) {
            factor = unit->factor;
            *text += bytes;
        }
    }
    if (factor == 0) {
        return -EINVAL;
    }
    if (number > UINT64_MAX / factor) {
        return -ERANGE;
    }
    *product = number * factor;
    return 0;
}

int duration_parse(const char *text, uint64_t *milliseconds)
{
    const char *at = text;
    uint64_t sum = 0;

    do {
        uint64_t term;
        /* "1h30" may mean minutes or seconds: only a number alone goes without. */
        int rc = read_term(&at, time_units, at == text ? 1000 : 0, &term);
        if (rc != 0) {
            return rc;
        }
        if (term > DURATION_MOST_MS - sum) {
            return -ERANGE;
        }
        sum += term;
    } while (*at != '\0');
    *milliseconds = sum;
    return 0;
}

int size_parse(const char *text, uint64_t *bytes)
{
    const char *at = text;
    uint64_t product;
    int rc = read_term(&at, size_units, 1, &product);

    if (rc == 0 && *at != '\0') {
        rc = -EINVAL;
    }
    if (rc == 0) {
        *bytes = product;
    }
    return rc;
}
