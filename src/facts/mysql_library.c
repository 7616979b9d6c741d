/*
 * mysql_library.c - libmariadb by dlopen(3), so that strata runs where there is none.
 *
 * Only the child process that talks to a server loads it.
 */
#include "facts/mysql_library.h"

#include <errno.h>
#include <stddef.h>

#include "base/library.h"

int mysql_library_load(struct mysql_library *library, const char **why)
{
    static const char *const names[] = {"libmariadb.so.3", NULL};
    const struct library_function functions[] = {
        {"mysql_init", &library->init},
        {"mysql_options", &library->options},
        {"mysql_optionsv", &library->optionsv},
        {"mysql_real_connect", &library->real_connect},
        {"mysql_get_socket", &library->get_socket},
        {"mysql_get_server_info", &library->get_server_info},
        {"mysql_real_query", &library->real_query},
        {"mysql_field_count", &library->field_count},
        {"mysql_use_result", &library->use_result},
        {"mysql_num_fields", &library->num_fields},
        {"mysql_fetch_row", &library->fetch_row},
        {"mysql_fetch_lengths", &library->fetch_lengths},
        {"mysql_free_result", &library->free_result},
        {"mysql_errno", &library->errno_of},
        {"mysql_error", &library->error},
        {"mysql_close", &library->close},
    };
    const int rc =
        library_load(names, functions, sizeof(functions) / sizeof(functions[0]));

    if (rc == -ENOENT) {
        *why =
            "libmariadb.so.3 is not installed: package libmariadb3 (Debian, Ubuntu) or "
            "mariadb-connector-c";
        return -ENOENT;
    }
    if (rc != 0) {
        *why = "libmariadb.so.3 lacks a function: it is not MariaDB Connector/C 3";
        return -ENOENT;
    }
    return 0;
}
