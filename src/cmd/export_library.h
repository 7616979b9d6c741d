/* export_library.h - the functions of libmicrohttpd that export_http.c calls. */
#ifndef STRATA_CMD_EXPORT_LIBRARY_H
#define STRATA_CMD_EXPORT_LIBRARY_H

#include <microhttpd.h>

#include "base/error.h"

struct export_library {
    __typeof__(&MHD_add_response_header) add_response_header;
    __typeof__(&MHD_create_response_from_buffer) create_response_from_buffer;
    __typeof__(&MHD_destroy_response) destroy_response;
    __typeof__(&MHD_get_connection_info) get_connection_info;
    __typeof__(&MHD_lookup_connection_value) lookup_connection_value;
    __typeof__(&MHD_queue_response) queue_response;
    __typeof__(&MHD_start_daemon) start_daemon;
    __typeof__(&MHD_stop_daemon) stop_daemon;
};

/* Loads libmicrohttpd. 0, or -ENOENT with error set: it is not there, or lacks a function. */
int export_library_load(struct export_library *library, struct error *error);

#endif
