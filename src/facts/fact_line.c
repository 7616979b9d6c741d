/*
 * fact_line.c - one parser for status, smaps, smaps_rollup and whatever has their shape.
 *
 * Keys are compared whole, colon included: "Pss" is a prefix of "Pss_Anon" (Linux 5.4) and
 * "Rss" of nothing today, which is how other tools came to add up the wrong rows.
 * Keys that no row names are skipped, so a newer kernel needs no newer reader.
 */
#include "facts/fact_line.h"

#include <stdint.h>
#include <string.h>

#include "base/number.h"

static struct fact parse_number(const char *text)
{
    struct fact fact = {.state = FACT_MALFORMED};
    uint64_t value;

    text += strspn(text, " \t");
    if (number_read(&text, 10, &value) != 0) {
        return fact;
    }
    text += strspn(text, " \t");
    if (strcmp(text, "kB") == 0) {
        if (value > UINT64_MAX / 1024) {
            return fact;
        }
        value *= 1024;
    } else if (*text != '\0') {
        return fact;
    }
    fact.value = value;
    fact.state = FACT_OK;
    return fact;
}

bool fact_line_store(const struct fact_info *table, size_t count, const char *source,
    const char *line, struct fact *values)
{
    const char *colon = strchr(line, ':');

    if (colon == NULL) {
        return false;
    }
    const size_t key_bytes = (size_t)(colon - line);
    for (size_t i = 0; i < count; i++) {
        const char *key = table[i].key;
        if (key[0] == line[0] && strncmp(key, line, key_bytes) == 0 &&
            key[key_bytes] == '\0' && strcmp(table[i].source, source) == 0) {
            values[i] = parse_number(colon + 1);
            return true;
        }
    }
    return false;
}

void fact_line_mark(const struct fact_info *table, size_t count, const char *source,
    enum fact_state state, struct fact *values)
{
    for (size_t i = 0; i < count; i++) {
        if (values[i].state == FACT_ABSENT && strcmp(table[i].source, source) == 0) {
            values[i].state = state;
        }
    }
}
