/* fuzz_mysql.c - any bytes as the answers of a database server, and as an option file. */
#include <stdint.h>
#include <stdlib.h>

#include "facts/mysql_answer.h"
#include "facts/mysql_options.h"

static void check(const struct mysql_facts *mysql)
{
    if ((mysql->state != FACT_OK && mysql->why == NULL) ||
        (mysql->memory_state != FACT_OK && mysql->memory_why == NULL)) {
        abort(); /* what is missing has a reason */
    }
    for (size_t i = 0; i < mysql->event_count; i++) {
        if (mysql->events[i].name == NULL || mysql->events[i].bytes == 0) {
            abort();
        }
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct mysql_credentials strata = {.user = ""};
    struct mysql_credentials client = {.user = ""};
    struct mysql_facts mysql = {.state = FACT_ABSENT};
    struct region region;
    char *text;

    region_init(&region, 4 << 20);
    if (mysql_answer_read((const char *)data, bytes, bytes % 2 == 0, &region, &mysql) ==
        0) {
        check(&mysql);
    }
    text = region_copy(&region, (const char *)data, bytes);
    if (text != NULL) {
        mysql_options_parse(text, &strata, &client);
    }
    region_release(&region);
    return 0;
}
