/* mysql_client.h - one conversation with a database server; runs in a process of its own. */
#ifndef STRATA_FACTS_MYSQL_CLIENT_H
#define STRATA_FACTS_MYSQL_CLIENT_H

#include <stdbool.h>

#include "facts/mysql_endpoint.h"

/* Errors of our own in the stream of answers; MySQL's are positive. */
enum mysql_client_error {
    MYSQL_ERROR_LIBRARY = -1, /* there is no client library */
    MYSQL_ERROR_OTHER = -2,   /* another process answered */
    MYSQL_ERROR_OPTIONS = -3, /* the option file that was asked for cannot be read */
    MYSQL_ERROR_BOUND = -4,   /* more rows, or longer ones, than are ever read */
};

enum {
    MYSQL_ROWS_MAX = 4096,
    MYSQL_CELL_BYTES_MAX = 512,
    MYSQL_STREAM_BYTES_MAX = 2 << 20,
};

/* The last line of a whole stream. */
#define MYSQL_STREAM_END "{}\n"

struct mysql_request {
    struct process_folder *folder;
    const struct mysql_endpoint *endpoint;
    const char *defaults_file; /* NULL: the usual option files */
    bool may_send_password; /* the server runs as somebody a password may be shown to */
};

/*
 * Connects, asks all there is to ask and writes one line of JSON for each step to out_fd:
 *   {"step": "events", "rows": [["memory/sql/THD::main_mem_root", "123", ...], ...]}
 *   {"step": "events", "error": 1142, "text": "SELECT command denied ..."}
 *   {"step": "connect", "version": "10.11.19-MariaDB"}
 * and MYSQL_STREAM_END at last: the end of the pipe may come later, since children of
 * other threads inherit it.
 * A password never gets into the stream. The server may hang, lie or send without end: the
 * caller runs this in a child process with bounds of memory and time, and ends it.
 */
void mysql_client_run(const struct mysql_request *request, int out_fd);

#endif
