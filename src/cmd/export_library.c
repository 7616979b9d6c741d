/*
 * export_library.c - libmicrohttpd by dlopen(3), since only one command serves HTTP: the library
 * brings eight others for TLS, and loading them took a fifth of the time of an overview
 * of 500 processes.
 */
#include "cmd/export_library.h"

#include <errno.h>
#include <stddef.h>

#include "base/library.h"

int export_library_load(struct export_library *library, struct error *error)
{
    static const char *const names[] = {"libmicrohttpd.so.12", NULL};
    const struct library_function functions[] = {
        {"MHD_add_response_header", &library->add_response_header},
        {"MHD_create_response_from_buffer", &library->create_response_from_buffer},
        {"MHD_destroy_response", &library->destroy_response},
        {"MHD_get_connection_info", &library->get_connection_info},
        {"MHD_lookup_connection_value", &library->lookup_connection_value},
        {"MHD_queue_response", &library->queue_response},
        {"MHD_start_daemon", &library->start_daemon},
        {"MHD_stop_daemon", &library->stop_daemon},
    };
    const int rc =
        library_load(names, functions, sizeof(functions) / sizeof(functions[0]));

    if (rc == -ENOENT) {
        return error_set(error, -ENOENT,
            "cannot serve: %s is not installed: package libmicrohttpd12 (Debian, Ubuntu) "
            "or libmicrohttpd; with --textfile none is needed",
            names[0]);
    }
    if (rc != 0) {
        return error_set(error, -ENOENT, "cannot serve: %s lacks a function", names[0]);
    }
    return 0;
}
