/*
 * pressure.c - "some avg10=0.00 avg60=0.00 avg300=0.00 total=123".
 *
 * Only the total is read: averages can be made from two totals, over any time, and are
 * shown by the kernel with two digits only.
 */
#include "facts/pressure.h"

#include <string.h>

#include "base/number.h"
#include "base/slice.h"

static const char total_key[] = "total=";

struct fact pressure_total(const char *text, const char *kind)
{
    struct slice rest = {text, strlen(text)};
    struct slice line;
    struct slice word;

    while (slice_next(&rest, '\n', &line)) {
        if (!slice_next(&line, ' ', &word) || !slice_is(word, kind)) {
            continue;
        }
        struct fact fact = {.state = FACT_MALFORMED};
        while (slice_next(&line, ' ', &word)) {
            const char *digits = word.text + strlen(total_key);
            if (slice_starts_with(word, total_key) &&
                number_read(&digits, 10, &fact.value) == 0) {
                fact.state = FACT_OK;
            }
        }
        return fact;
    }
    return (struct fact){.state = FACT_ABSENT};
}
