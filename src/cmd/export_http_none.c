/*
 * export_http_none.c - export_http.c of a static build: textfile only.
 *
 * libmicrohttpd of Debian needs libraries for TLS that exist as shared ones only.
 */
#include "cmd/export_http.h"

#include <errno.h>
#include <unistd.h>

int export_http_start(int socket_fd, export_render *render, void *context,
    struct export_http **result, struct error *error)
{
    (void)render;
    (void)context;
    *result = NULL;
    (void)close(socket_fd);
    return error_set(error, -ENOTSUP,
        "cannot serve HTTP: this build of strata is static; --textfile FILE works, for "
        "node_exporter");
}

void export_http_tick(struct export_http *server)
{
    (void)server;
}

const char *export_http_url(const struct export_http *server)
{
    (void)server;
    return "";
}

void export_http_count(
    struct export_http *server, struct metrics_count counts[EXPORT_HTTP_CODES])
{
    (void)server;
    for (int i = 0; i < EXPORT_HTTP_CODES; i++) {
        counts[i] = (struct metrics_count){0};
    }
}

void export_http_stop(struct export_http *server)
{
    (void)server;
}
