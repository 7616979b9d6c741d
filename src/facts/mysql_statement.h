/* mysql_statement.h - what is asked of a database server, by family. */
#ifndef STRATA_FACTS_MYSQL_STATEMENT_H
#define STRATA_FACTS_MYSQL_STATEMENT_H

#include <stdbool.h>
#include <stddef.h>

#include "base/buffer.h"
#include "facts_types/mysql_facts.h"

/* The steps of one reading, in their order; the first two are no statements. */
enum mysql_step {
    MYSQL_STEP_LIBRARY, /* the client library was loaded */
    MYSQL_STEP_CONNECT,
    MYSQL_STEP_SESSION, /* read only, with limits of time: no rows */
    MYSQL_STEP_VARIABLES,
    MYSQL_STEP_STATUS,
    MYSQL_STEP_INSTRUMENTS,
    MYSQL_STEP_EVENTS,
    MYSQL_STEP_THREADS,
    MYSQL_STEP_ACCOUNTS,
    MYSQL_STEP_COUNT,
};

/* "library", "connect", "session", ...: as in the stream of answers. */
extern const char *const mysql_step_names[MYSQL_STEP_COUNT];

/* By the version text of the greeting: "10.11.19-MariaDB", "8.4.3". */
enum mysql_family mysql_family_of(const char *version);

/*
 * Appends the text of a step for a family; nothing when the family has none. index counts the
 * statements of one step, from 0: false behind the last one. Every statement reads only, and
 * none reads the text of another statement.
 */
bool mysql_statement_text(
    enum mysql_step step, enum mysql_family family, size_t index, struct buffer *text);

#endif
