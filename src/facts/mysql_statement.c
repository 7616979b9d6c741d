/*
 * mysql_statement.c - the statements, in one table, and the names of facts.def in two of them.
 *
 * Names of tables and columns are those of MySQL 8.0 to 9.x (manual, "Memory Summary Tables",
 * "The setup_instruments Table") and of MariaDB 10.6 to 11.x (knowledge base, the same
 * tables, 10.5.2 and later); what differs is how time is limited. MySQL: max_execution_time,
 * milliseconds, SELECT only. MariaDB: max_statement_time, seconds, any statement. What
 * neither limits ends with the client's own read timeout. lock_wait_timeout bounds waits for
 * metadata locks.
 */
#include "facts/mysql_statement.h"

#include <string.h>

const char *const mysql_step_names[MYSQL_STEP_COUNT] = {
    [MYSQL_STEP_LIBRARY] = "library",
    [MYSQL_STEP_CONNECT] = "connect",
    [MYSQL_STEP_SESSION] = "session",
    [MYSQL_STEP_VARIABLES] = "variables",
    [MYSQL_STEP_STATUS] = "status",
    [MYSQL_STEP_INSTRUMENTS] = "instruments",
    [MYSQL_STEP_EVENTS] = "events",
    [MYSQL_STEP_THREADS] = "threads",
    [MYSQL_STEP_ACCOUNTS] = "accounts",
};

struct statement {
    enum mysql_step step;
    enum mysql_family family; /* MYSQL_UNKNOWN: every family */
    const char *text;         /* NULL: SHOW of the names in facts.def */
};

static const struct statement statements[] = {
    {MYSQL_STEP_SESSION, MYSQL_MARIADB,
        "SET SESSION max_statement_time=0.5, lock_wait_timeout=1"},
    {MYSQL_STEP_SESSION, MYSQL_MYSQL,
        "SET SESSION max_execution_time=500, lock_wait_timeout=1"},
    {MYSQL_STEP_SESSION, MYSQL_UNKNOWN, "SET SESSION TRANSACTION READ ONLY"},
    {MYSQL_STEP_VARIABLES, MYSQL_UNKNOWN, NULL},
    {MYSQL_STEP_STATUS, MYSQL_UNKNOWN, NULL},
    {MYSQL_STEP_INSTRUMENTS, MYSQL_UNKNOWN,
        "SELECT COUNT(*), SUM(ENABLED = 'YES'),"
        " SUM(ENABLED = 'YES' AND NAME = 'memory/innodb/buf_buf_pool')"
        " FROM performance_schema.setup_instruments WHERE NAME LIKE 'memory/%'"},
    {MYSQL_STEP_EVENTS, MYSQL_UNKNOWN,
        "SELECT EVENT_NAME, CURRENT_NUMBER_OF_BYTES_USED, HIGH_NUMBER_OF_BYTES_USED,"
        " CURRENT_COUNT_USED FROM performance_schema.memory_summary_global_by_event_name"
        " WHERE CURRENT_NUMBER_OF_BYTES_USED <> 0"
        " ORDER BY CURRENT_NUMBER_OF_BYTES_USED DESC LIMIT 4096"},
    {MYSQL_STEP_THREADS, MYSQL_UNKNOWN,
        "SELECT t.NAME, m.THREAD_ID, m.bytes FROM (SELECT THREAD_ID,"
        " SUM(CURRENT_NUMBER_OF_BYTES_USED) AS bytes"
        " FROM performance_schema.memory_summary_by_thread_by_event_name"
        " GROUP BY THREAD_ID ORDER BY bytes DESC LIMIT 8) AS m"
        " JOIN performance_schema.threads AS t ON t.THREAD_ID = m.THREAD_ID"
        " ORDER BY m.bytes DESC"},
    {MYSQL_STEP_ACCOUNTS, MYSQL_UNKNOWN,
        "SELECT CONCAT(USER, '@', HOST), 0, SUM(CURRENT_NUMBER_OF_BYTES_USED) AS bytes"
        " FROM performance_schema.memory_summary_by_account_by_event_name"
        " WHERE USER IS NOT NULL GROUP BY USER, HOST ORDER BY bytes DESC LIMIT 8"},
};

enum { STATEMENT_COUNT = sizeof(statements) / sizeof(statements[0]) };

/* Texts that are not numbers, and so not in facts.def. */
static const char *const text_variables[] = {
    "version_malloc_library", "innodb_flush_method", "thread_handling"};

enum mysql_family mysql_family_of(const char *version)
{
    if (version == NULL || version[0] < '0' || version[0] > '9') {
        return MYSQL_UNKNOWN;
    }
    return strstr(version, "MariaDB") != NULL ? MYSQL_MARIADB : MYSQL_MYSQL;
}

static void append_name(struct buffer *text, const char *name, bool first)
{
    buffer_printf(text, "%s'%s'", first ? "" : ", ", name);
}

static void append_show(enum mysql_step step, struct buffer *text)
{
    bool first = true;

    buffer_printf(text, "SHOW GLOBAL %s WHERE Variable_name IN (",
        step == MYSQL_STEP_STATUS ? "STATUS" : "VARIABLES");
    for (size_t i = 0; i < MYSQL_FACT_COUNT; i++) {
        if (strcmp(mysql_fact_table[i].source, mysql_step_names[step]) == 0) {
            append_name(text, mysql_fact_table[i].key, first);
            first = false;
        }
    }
    for (size_t i = 0; step == MYSQL_STEP_VARIABLES &&
                       i < sizeof(text_variables) / sizeof(text_variables[0]);
         i++) {
        append_name(text, text_variables[i], false);
    }
    buffer_append_char(text, ')');
}

bool mysql_statement_text(
    enum mysql_step step, enum mysql_family family, size_t index, struct buffer *text)
{
    for (size_t i = 0; i < STATEMENT_COUNT; i++) {
        const struct statement *row = &statements[i];
        if (row->step != step ||
            (row->family != MYSQL_UNKNOWN && row->family != family)) {
            continue;
        }
        if (index > 0) {
            index--;
            continue;
        }
        if (row->text != NULL) {
            buffer_append_text(text, row->text);
        } else {
            append_show(step, text);
        }
        return true;
    }
    return false;
}
