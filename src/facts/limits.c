/*
 * limits.c - parses the table of /proc/PID/limits (fs/proc/base.c, proc_pid_limits()).
 *
 * Columns are padded with blanks and the names hold blanks too, so a row is found by its whole
 * name with a blank behind it.
 */
#include "facts/limits.h"

#include <string.h>

#include "base/number.h"
#include "facts/text_line.h"

static struct fact parse_limit(const char *text)
{
    struct fact fact = {.state = FACT_MALFORMED};

    text += strspn(text, " ");
    if (strncmp(text, "unlimited", strlen("unlimited")) == 0) {
        fact.state = FACT_ABSENT;
    } else if (number_read(&text, 10, &fact.value) == 0 &&
               (*text == ' ' || *text == '\0')) {
        fact.state = FACT_OK;
    } else {
        fact.value = 0;
    }
    return fact;
}

void limits_parse(char *text, size_t bytes, struct fact values[PROCESS_FACT_COUNT])
{
    char *end = text + bytes;
    char *line;

    while ((line = text_line_next(&text, end)) != NULL) {
        for (size_t i = 0; i < PROCESS_FACT_COUNT; i++) {
            const struct fact_info *info = &process_fact_table[i];
            const size_t key_bytes = strlen(info->key);
            if (strcmp(info->source, "limits") == 0 &&
                strncmp(line, info->key, key_bytes) == 0 && line[key_bytes] == ' ') {
                values[i] = parse_limit(line + key_bytes);
            }
        }
    }
}
