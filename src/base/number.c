/*
 * number.c - strtoull accepts signs, blanks and prefixes, and reports overflow through
 * errno; none of that fits text which the kernel or an attacker wrote.
 */
#include "base/number.h"

#include <errno.h>
#include <stddef.h>

static int digit_value(char character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    if (character >= 'a' && character <= 'f') {
        return character - 'a' + 10;
    }
    if (character >= 'A' && character <= 'F') {
        return character - 'A' + 10;
    }
    return -1;
}

int number_read(const char **text, int base, uint64_t *value)
{
    const char *at = *text;
    uint64_t sum = 0;
    int digit = digit_value(*at);

    if (digit < 0 || digit >= base) {
        return -EINVAL;
    }
    for (; digit >= 0 && digit < base; digit = digit_value(*++at)) {
        if (__builtin_mul_overflow(sum, (uint64_t)base, &sum) ||
            __builtin_add_overflow(sum, (uint64_t)digit, &sum)) {
            return -ERANGE;
        }
    }
    *text = at;
    *value = sum;
    return 0;
}

int number_parse(const char *text, uint64_t *value)
{
    uint64_t parsed;
    int rc = number_read(&text, 10, &parsed);

    if (rc != 0) {
        return rc;
    }
    if (*text != '\0') {
        return -EINVAL;
    }
    *value = parsed;
    return 0;
}

uint64_t number_add(uint64_t a, uint64_t b)
{
    uint64_t sum;

    return __builtin_add_overflow(a, b, &sum) ? UINT64_MAX : sum;
}

int64_t number_difference(int64_t a, int64_t b)
{
    if (b < 0 && a > INT64_MAX + b) {
        return INT64_MAX;
    }
    if (b > 0 && a < INT64_MIN + b) {
        return INT64_MIN;
    }
    return a - b;
}

uint64_t number_subtract(uint64_t a, uint64_t b)
{
    return a > b ? a - b : 0;
}

uint64_t number_scale(uint64_t number, double factor)
{
    const double scaled = (double)number * factor;

    return scaled < 0x1p64 ? (uint64_t)scaled : UINT64_MAX;
}

uint64_t number_smaller(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

uint64_t number_from_kib(uint64_t kib)
{
    uint64_t bytes;

    return __builtin_mul_overflow(kib, (uint64_t)1024, &bytes) ? UINT64_MAX : bytes;
}
