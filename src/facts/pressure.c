/*
 * pressure.c - "some avg10=0.00 avg60=0.00 avg300=0.00 total=123".
 *
 * Totals make averages over any time, but only from two looks; a single look has the
 * kernel's own averages, with two digits behind the point.
 */
#include "facts/pressure.h"

#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/slice.h"

enum {
    HUNDREDTHS_MAX = 100 * 100,
    MICROSECONDS_A_HUNDREDTH = 60 * 1000000 / HUNDREDTHS_MAX,
};

/* What stands behind key in the line of that kind, as it is; the state says whether it does. */
static enum fact_state find_value(
    const char *text, const char *kind, const char *key, const char **value)
{
    struct slice rest = {text, strlen(text)};
    struct slice line;
    struct slice word;

    while (slice_next(&rest, '\n', &line)) {
        if (!slice_next(&line, ' ', &word) || !slice_is(word, kind)) {
            continue;
        }
        while (slice_next(&line, ' ', &word)) {
            if (slice_starts_with(word, key)) {
                *value = word.text + strlen(key);
                return FACT_OK;
            }
        }
        return FACT_MALFORMED;
    }
    return FACT_ABSENT;
}

struct fact pressure_total(const char *text, const char *kind)
{
    const char *digits = NULL;
    struct fact fact = {.state = find_value(text, kind, "total=", &digits)};

    if (fact.state == FACT_OK && number_read(&digits, 10, &fact.value) != 0) {
        fact.state = FACT_MALFORMED;
    }
    return fact;
}

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

struct fact pressure_minute(const char *text, const char *kind)
{
    const char *digits = NULL;
    uint64_t percent = 0;
    struct fact fact = {.state = find_value(text, kind, "avg60=", &digits)};

    if (fact.state != FACT_OK) {
        return fact;
    }
    if (number_read(&digits, 10, &percent) != 0 || percent > 100 || digits[0] != '.' ||
        !is_digit(digits[1]) || !is_digit(digits[2])) {
        return (struct fact){.state = FACT_MALFORMED};
    }
    const uint64_t hundredths =
        percent * 100 + (uint64_t)(digits[1] - '0') * 10 + (uint64_t)(digits[2] - '0');
    fact.value = hundredths * MICROSECONDS_A_HUNDREDTH;
    return fact;
}

struct fact pressure_of_key(const char *text, const char *key)
{
    if (strcmp(key, "some avg60") == 0) {
        return pressure_minute(text, "some");
    }
    return strcmp(key, "full avg60") == 0 ? pressure_minute(text, "full")
                                          : pressure_total(text, key);
}
