/*
 * mysql_answer.c - numbers out of rows of text, and sums over the memory instruments.
 *
 * A row's number is what facts.def says: a count, bytes, or ON and OFF. "-1" of a variable
 * means that the server chooses, which is no number. Sums of Performance Schema are signed:
 * an instrument that was switched on late sees memory given back which it never saw taken.
 */
#include "facts/mysql_answer.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/number.h"
#include "facts/mysql_client.h"
#include "facts/mysql_statement.h"
#include "facts/text_line.h"

enum { WHY_BYTES = 256, MAX_LINES = 64 };

/* An instrument's sum cannot be larger; keeps sums over 4096 of them in range. */
static const int64_t most_bytes = INT64_C(1) << 50;

static const char pool_event[] = "memory/innodb/buf_buf_pool";
static const char own_events[] = "memory/performance_schema/";

/* Did each step come, and how did it end? */
struct answers {
    bool seen[MYSQL_STEP_COUNT];
    uint64_t pool_instrument_on;
};

static void set(struct mysql_facts *mysql, enum mysql_fact id, uint64_t value)
{
    mysql->values[id] = (struct fact){.value = value, .state = FACT_OK};
}

static void mark(struct mysql_facts *mysql, const char *source, uint32_t state)
{
    for (size_t i = 0; i < MYSQL_FACT_COUNT; i++) {
        if (strcmp(mysql_fact_table[i].source, source) == 0 &&
            mysql->values[i].state == FACT_ABSENT) {
            mysql->values[i].state = (enum fact_state)state;
        }
    }
}

/* The state that an error of the server or the client means. */
static uint32_t state_of_error(int64_t error)
{
    switch (error) {
    case 1044: /* ER_DBACCESS_DENIED_ERROR */
    case 1045: /* ER_ACCESS_DENIED_ERROR */
    case 1142: /* ER_TABLEACCESS_DENIED_ERROR */
    case 1143: /* ER_COLUMNACCESS_DENIED_ERROR */
    case 1227: /* ER_SPECIFIC_ACCESS_DENIED_ERROR */
    case 1698: /* ER_ACCESS_DENIED_NO_PASSWORD_ERROR */
    case MYSQL_ERROR_OPTIONS:
        return FACT_DENIED;
    case 2006: /* CR_SERVER_GONE_ERROR */
    case 2013: /* CR_SERVER_LOST */
    case 2055: /* CR_SERVER_LOST_EXTENDED */
        return FACT_GONE;
    case 2000: /* CR_UNKNOWN_ERROR */
    case 2007: /* CR_VERSION_ERROR */
    case 2008: /* CR_OUT_OF_MEMORY: more than the child may take */
    case 2012: /* CR_SERVER_HANDSHAKE_ERR */
    case 2014: /* CR_COMMANDS_OUT_OF_SYNC */
    case 2020: /* CR_NET_PACKET_TOO_LARGE */
    case 2027: /* CR_MALFORMED_PACKET */
    case MYSQL_ERROR_BOUND:
        return FACT_MALFORMED;
    default:
        return FACT_ABSENT;
    }
}

/* What would help, behind the server's own words. */
static const char *advice(int64_t error)
{
    switch (error) {
    case 1044:
    case 1142:
    case 1143:
        return "; as an administrator: GRANT SELECT ON performance_schema.* TO this user";
    case 1045:
    case 1698:
        return "; give a user and password in the group [strata] of an option file "
               "(--defaults-file or .my.cnf), or run as the user the server knows";
    case 1969: /* MariaDB: ER_STATEMENT_TIMEOUT */
    case 3024: /* MySQL: ER_QUERY_TIMEOUT */
    case 1205: /* ER_LOCK_WAIT_TIMEOUT */
        return "; the limit of time keeps the server free: try again when it is less "
               "busy";
    case 2006:
    case 2013:
        return "; it ended, or took longer than a second to answer";
    default:
        return "";
    }
}

static char *why_of(struct region *region, int64_t error, const char *text)
{
    return region_printf(region, "%.*s%s", WHY_BYTES, text, advice(error));
}

static const char *cell(const json_t *row, size_t index)
{
    const char *text = json_string_value(json_array_get(row, index));

    return text != NULL ? text : "";
}

/* A decimal with sign, nothing behind it, within most_bytes. */
static bool parse_signed(const char *text, int64_t *value)
{
    const bool negative = *text == '-';
    uint64_t magnitude;

    if (number_parse(text + (negative ? 1 : 0), &magnitude) != 0 ||
        magnitude > (uint64_t)most_bytes) {
        return false;
    }
    *value = negative ? -(int64_t)magnitude : (int64_t)magnitude;
    return true;
}

static void take_value(const struct fact_info *info, const char *text, struct fact *fact)
{
    uint64_t value;

    if (number_parse(text, &value) == 0) {
        *fact = (struct fact){.value = value, .state = FACT_OK};
    } else if (strcmp(text, "ON") == 0 || strcmp(text, "OFF") == 0) {
        *fact = (struct fact){.value = strcmp(text, "ON") == 0, .state = FACT_OK};
    } else if (strcmp(text, "-1") != 0 && *text != '\0') {
        *fact = (struct fact){.state = FACT_MALFORMED};
    }
    if (fact->state == FACT_OK && info->unit == FACT_UNIT_BYTES &&
        fact->value > (uint64_t)most_bytes) {
        fact->value = (uint64_t)most_bytes; /* "no limit": 2^64 - 1 */
    }
}

static int take_text(struct region *region, const char *text, char **place)
{
    if (*place == NULL && *text != '\0') {
        *place = region_copy_text(region, text);
        return *place == NULL ? -ENOMEM : 0;
    }
    return 0;
}

/* Rows of SHOW: a name and a value. */
static int take_shown(struct region *region, const json_t *rows, const char *source,
    struct mysql_facts *mysql)
{
    int rc = 0;

    for (size_t r = 0; rc == 0 && r < json_array_size(rows); r++) {
        const json_t *row = json_array_get(rows, r);
        const char *name = cell(row, 0);

        for (size_t i = 0; i < MYSQL_FACT_COUNT; i++) {
            if (strcasecmp(mysql_fact_table[i].key, name) == 0 &&
                strcmp(mysql_fact_table[i].source, source) == 0) {
                take_value(&mysql_fact_table[i], cell(row, 1), &mysql->values[i]);
            }
        }
        if (strcasecmp(name, "version_malloc_library") == 0) {
            rc = take_text(region, cell(row, 1), &mysql->malloc_library);
        } else if (strcasecmp(name, "innodb_flush_method") == 0) {
            rc = take_text(region, cell(row, 1), &mysql->flush_method);
        } else if (strcasecmp(name, "thread_handling") == 0) {
            rc = take_text(region, cell(row, 1), &mysql->thread_handling);
        }
    }
    return rc;
}

static void take_instruments(
    const json_t *rows, struct answers *answers, struct mysql_facts *mysql)
{
    const json_t *row = json_array_get(rows, 0);
    uint64_t total;
    uint64_t on;

    if (number_parse(cell(row, 0), &total) != 0 || number_parse(cell(row, 1), &on) != 0 ||
        on > total) {
        mysql->values[MYSQL_FACT_INSTRUMENTS].state = FACT_MALFORMED;
        mysql->values[MYSQL_FACT_INSTRUMENTS_ON].state = FACT_MALFORMED;
        return;
    }
    set(mysql, MYSQL_FACT_INSTRUMENTS, total);
    set(mysql, MYSQL_FACT_INSTRUMENTS_ON, on);
    (void)number_parse(cell(row, 2), &answers->pool_instrument_on);
}

static int add_event(struct region *region, const json_t *row, struct mysql_facts *mysql)
{
    struct mysql_event *event = &mysql->events[mysql->event_count];

    if (strncmp(cell(row, 0), "memory/", strlen("memory/")) != 0 ||
        !parse_signed(cell(row, 1), &event->bytes) ||
        number_parse(cell(row, 2), &event->high_bytes) != 0 ||
        !parse_signed(cell(row, 3), &event->blocks) || event->bytes == 0) {
        return -EINVAL;
    }
    event->name = region_copy_text(region, cell(row, 0));
    mysql->event_count++;
    return event->name == NULL ? -ENOMEM : 0;
}

static int compare_events(const void *left, const void *right)
{
    const struct mysql_event *a = left;
    const struct mysql_event *b = right;

    if (a->bytes != b->bytes) {
        return a->bytes < b->bytes ? 1 : -1;
    }
    return strcmp(a->name, b->name);
}

static void sum_events(struct mysql_facts *mysql)
{
    int64_t total = 0;
    int64_t blocks = 0;
    uint64_t negative = 0;
    uint64_t negative_rows = 0;
    uint64_t own = 0;

    for (size_t i = 0; i < mysql->event_count; i++) {
        const struct mysql_event *event = &mysql->events[i];
        total += event->bytes;
        blocks += event->blocks;
        if (event->bytes < 0) {
            negative += (uint64_t)-event->bytes;
            negative_rows++;
            continue;
        }
        if (strncmp(event->name, own_events, sizeof(own_events) - 1) == 0) {
            own += (uint64_t)event->bytes;
        }
        if (strcmp(event->name, pool_event) == 0) {
            set(mysql, MYSQL_FACT_INSTRUMENTED_POOL, (uint64_t)event->bytes);
        }
    }
    if (total < 0) {
        mysql->values[MYSQL_FACT_INSTRUMENTED].state = FACT_MALFORMED;
    } else {
        set(mysql, MYSQL_FACT_INSTRUMENTED, (uint64_t)total);
    }
    set(mysql, MYSQL_FACT_INSTRUMENTED_NEGATIVE, negative);
    set(mysql, MYSQL_FACT_NEGATIVE_ROWS, negative_rows);
    set(mysql, MYSQL_FACT_SCHEMA_OWN, own);
    set(mysql, MYSQL_FACT_BLOCKS, blocks < 0 ? 0 : (uint64_t)blocks);
}

static int take_events(
    struct region *region, const json_t *rows, struct mysql_facts *mysql)
{
    const size_t count = json_array_size(rows);
    int rc = 0;

    if (mysql->events != NULL || count > MYSQL_MAX_EVENTS) {
        return -EINVAL;
    }
    mysql->events = region_alloc(region, count * sizeof(*mysql->events) + 1);
    if (mysql->events == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < count; i++) {
        rc = add_event(region, json_array_get(rows, i), mysql);
    }
    if (rc != 0) {
        mysql->event_count = 0;
        return rc;
    }
    qsort(mysql->events, mysql->event_count, sizeof(*mysql->events), compare_events);
    sum_events(mysql);
    mysql->memory_state = FACT_OK;
    return 0;
}

/* Rows of a name, an id and bytes. */
static int take_owners(struct region *region, const json_t *rows, size_t maximum,
    struct mysql_owner **owners, size_t *count)
{
    const size_t rows_count = json_array_size(rows);

    if (*owners != NULL || rows_count > maximum) {
        return -EINVAL;
    }
    *owners = region_alloc(region, rows_count * sizeof(**owners) + 1);
    if (*owners == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < rows_count; i++) {
        const json_t *row = json_array_get(rows, i);
        struct mysql_owner *owner = &(*owners)[*count];
        if (number_parse(cell(row, 1), &owner->thread_id) != 0 ||
            !parse_signed(cell(row, 2), &owner->bytes)) {
            *count = 0;
            return -EINVAL;
        }
        owner->name = region_copy_text(region, cell(row, 0));
        if (owner->name == NULL) {
            return -ENOMEM;
        }
        (*count)++;
    }
    return 0;
}

/* A step that failed: its facts get the state, and what is behind it the reason. */
static int take_error(struct region *region, enum mysql_step step, int64_t error,
    const char *text, struct mysql_facts *mysql)
{
    const uint32_t state = state_of_error(error);
    char *why = why_of(region, error, text);

    if (why == NULL) {
        return -ENOMEM;
    }
    switch (step) {
    case MYSQL_STEP_LIBRARY:
    case MYSQL_STEP_CONNECT:
        mysql->state = state;
        mysql->why = why;
        return 0;
    case MYSQL_STEP_VARIABLES:
    case MYSQL_STEP_STATUS:
        mark(mysql, mysql_step_names[step], state);
        mysql->state =
            state == FACT_GONE || state == FACT_MALFORMED ? state : mysql->state;
        mysql->why = why;
        return 0;
    case MYSQL_STEP_INSTRUMENTS:
        mysql->values[MYSQL_FACT_INSTRUMENTS].state = (enum fact_state)state;
        mysql->values[MYSQL_FACT_INSTRUMENTS_ON].state = (enum fact_state)state;
        break;
    case MYSQL_STEP_EVENTS:
        mark(mysql, "performance_schema", state);
        break;
    case MYSQL_STEP_SESSION:
    case MYSQL_STEP_THREADS:
    case MYSQL_STEP_ACCOUNTS:
    case MYSQL_STEP_COUNT:
        return 0;
    }
    if (mysql->memory_state != FACT_OK) {
        mysql->memory_state = state;
        mysql->memory_why = why;
    }
    return 0;
}

static int take_rows(struct region *region, enum mysql_step step, const json_t *rows,
    struct answers *answers, struct mysql_facts *mysql)
{
    switch (step) {
    case MYSQL_STEP_VARIABLES:
    case MYSQL_STEP_STATUS:
        return take_shown(region, rows, mysql_step_names[step], mysql);
    case MYSQL_STEP_INSTRUMENTS:
        take_instruments(rows, answers, mysql);
        return 0;
    case MYSQL_STEP_EVENTS:
        return take_events(region, rows, mysql);
    case MYSQL_STEP_THREADS:
        return take_owners(
            region, rows, MYSQL_MAX_THREADS, &mysql->threads, &mysql->thread_count);
    case MYSQL_STEP_ACCOUNTS:
        return take_owners(
            region, rows, MYSQL_MAX_ACCOUNTS, &mysql->accounts, &mysql->account_count);
    case MYSQL_STEP_LIBRARY:
    case MYSQL_STEP_CONNECT:
    case MYSQL_STEP_SESSION:
    case MYSQL_STEP_COUNT:
        break;
    }
    return 0;
}

static int take_line(struct region *region, const json_t *line, struct answers *answers,
    struct mysql_facts *mysql)
{
    const char *name = json_string_value(json_object_get(line, "step"));
    const json_t *error = json_object_get(line, "error");
    const char *text = json_string_value(json_object_get(line, "text"));
    const char *version = json_string_value(json_object_get(line, "version"));
    int rc = 0;

    for (int step = 0; name != NULL && step < MYSQL_STEP_COUNT; step++) {
        if (strcmp(name, mysql_step_names[step]) != 0) {
            continue;
        }
        answers->seen[step] = true;
        if (json_is_integer(error)) {
            return take_error(region, (enum mysql_step)step, json_integer_value(error),
                text != NULL ? text : "no reason was given", mysql);
        }
        if (step == MYSQL_STEP_CONNECT) {
            mysql->state = FACT_OK;
            mysql->family = mysql_family_of(version);
            return take_text(region, version != NULL ? version : "", &mysql->version);
        }
        rc = take_rows(
            region, (enum mysql_step)step, json_object_get(line, "rows"), answers, mysql);
        return rc != -EINVAL
                   ? rc
                   : take_error(region, (enum mysql_step)step, MYSQL_ERROR_BOUND,
                         "the rows are not what was asked for", mysql);
    }
    return 0;
}

/*
 * Rows below zero mean that memory was freed which the instruments had not seen taken; a
 * pool of no size, that it was taken before they were on.
 */
static enum mysql_since since_of(
    const struct mysql_facts *mysql, const struct answers *answers)
{
    const struct fact *values = mysql->values;
    const struct fact *pool = &values[MYSQL_FACT_POOL_BYTES];
    const struct fact *seen = &values[MYSQL_FACT_INSTRUMENTED_POOL];

    if (mysql->memory_state != FACT_OK || answers->pool_instrument_on == 0) {
        return MYSQL_SINCE_UNKNOWN;
    }
    if (values[MYSQL_FACT_NEGATIVE_ROWS].value > 0 ||
        (pool->state == FACT_OK &&
            (seen->state != FACT_OK || seen->value < pool->value / 2))) {
        return MYSQL_SINCE_LATER;
    }
    return seen->state == FACT_OK ? MYSQL_SINCE_START : MYSQL_SINCE_UNKNOWN;
}

/* What no line told: the reason is that the server did not get that far, or was not asked. */
static int close_answers(struct region *region, const struct answers *answers,
    bool finished, struct mysql_facts *mysql)
{
    const struct fact *schema = &mysql->values[MYSQL_FACT_PERFORMANCE_SCHEMA];

    if (!answers->seen[MYSQL_STEP_CONNECT] && mysql->why == NULL) {
        mysql->state = finished ? FACT_MALFORMED : FACT_ABSENT;
        mysql->why = region_copy_text(region,
            finished ? "the client ended without a word: the answer was not MySQL's"
                     : "the server did not answer in time");
    } else if (mysql->state == FACT_OK && !answers->seen[MYSQL_STEP_STATUS]) {
        mysql->why = region_copy_text(
            region, "the server stopped answering before it told its status");
        mysql->state = mysql->why != NULL ? FACT_GONE : mysql->state;
    }
    if (mysql->memory_state == FACT_OK || mysql->memory_why != NULL) {
        return 0;
    }
    mysql->memory_state = FACT_ABSENT;
    mysql->memory_why = region_copy_text(
        region, schema->state == FACT_OK && schema->value == 0
                    ? "performance_schema is OFF"
                    : "the server was not asked for it, or did not answer in time");
    return mysql->memory_why == NULL ? -ENOMEM : 0;
}

int mysql_answer_read(const char *stream, size_t bytes, bool finished,
    struct region *region, struct mysql_facts *mysql)
{
    struct answers answers = {.pool_instrument_on = 0};
    size_t lines = 0;
    int rc = 0;

    while (rc == 0 && bytes > 0 && lines++ < MAX_LINES) {
        const char *end = memchr(stream, '\n', bytes);
        json_t *line;
        if (end == NULL) {
            break; /* cut short in the middle of a line */
        }
        line = json_loadb(stream, (size_t)(end - stream), JSON_REJECT_DUPLICATES, NULL);
        if (line != NULL) {
            rc = take_line(region, line, &answers, mysql);
            json_decref(line);
        }
        bytes -= (size_t)(end - stream) + 1;
        stream = end + 1;
    }
    if (rc == 0) {
        mysql->since = since_of(mysql, &answers);
        rc = close_answers(region, &answers, finished, mysql);
    }
    return rc;
}
