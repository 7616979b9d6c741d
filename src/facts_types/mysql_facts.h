/* mysql_facts.h - what a MySQL or MariaDB server says of itself, asked over SQL. */
#ifndef STRATA_FACTS_TYPES_MYSQL_FACTS_H
#define STRATA_FACTS_TYPES_MYSQL_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact_table.h"

enum {
    MYSQL_MAX_SERVERS = 1, /* of one process */
    MYSQL_MAX_EVENTS = 4096,
    MYSQL_MAX_THREADS = 64,
    MYSQL_MAX_ACCOUNTS = 64,
};

enum mysql_family { MYSQL_UNKNOWN, MYSQL_MYSQL, MYSQL_MARIADB, MYSQL_FAMILY_COUNT };

/* "unknown", "mysql", "mariadb" */
extern const char *const mysql_family_names[MYSQL_FAMILY_COUNT];

/* Since when the memory instruments count: what they missed they never know. */
enum mysql_since {
    MYSQL_SINCE_UNKNOWN,
    MYSQL_SINCE_START,
    MYSQL_SINCE_LATER,
    MYSQL_SINCE_COUNT
};

/* "unknown", "start", "later" */
extern const char *const mysql_since_names[MYSQL_SINCE_COUNT];

/* One memory instrument of Performance Schema that is not zero. */
struct mysql_event {
    char *name; /* "memory/innodb/buf_buf_pool" */
    int64_t
        bytes; /* CURRENT_NUMBER_OF_BYTES_USED: as requested, without malloc's headers */
    uint64_t high_bytes;
    int64_t blocks; /* CURRENT_COUNT_USED */
};

/* What one thread, or all threads of one account, hold; by the instruments that are on. */
struct mysql_owner {
    char *name;         /* of the thread ("thread/sql/one_connection"), or "user@host" */
    uint64_t thread_id; /* Performance Schema's; 0 for an account */
    int64_t bytes;
};

/*
 * The answers of one server. Nothing here is a statement of a client or a credential.
 */
struct mysql_facts {
    uint32_t state;       /* enum fact_state: ok when the server was asked and answered */
    char *why;            /* when state is not ok */
    uint32_t family;      /* enum mysql_family */
    char *version;        /* "10.11.19-MariaDB-0+deb12u1" */
    char *address;        /* of the socket or port that was asked; NULL: none was found */
    char *malloc_library; /* version_malloc_library of MariaDB */
    char *flush_method;   /* innodb_flush_method */
    char *thread_handling; /* "one-thread-per-connection" */
    struct fact values[MYSQL_FACT_COUNT];
    uint32_t memory_state; /* enum fact_state of the events: the tables could be read */
    char *memory_why;
    uint32_t since;             /* enum mysql_since */
    struct mysql_event *events; /* largest first */
    size_t event_count;
    struct mysql_owner *threads; /* the largest few */
    size_t thread_count;
    struct mysql_owner *accounts; /* the largest few */
    size_t account_count;
};

#endif
