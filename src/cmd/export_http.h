/* export_http.h - the HTTP end of `strata export`: one page, for many and for slow clients. */
#ifndef STRATA_CMD_EXPORT_HTTP_H
#define STRATA_CMD_EXPORT_HTTP_H

#include <stddef.h>

#include "base/buffer.h"
#include "base/error.h"
#include "present/metrics.h"

/* The page of now; called by one thread at a time, not the caller's. 0 or -ENOMEM. */
typedef int export_render(
    void *context, enum metrics_format format, struct buffer *buffer);

struct export_http;

/* Serves /metrics on the socket, which then belongs to it. 0 or -errno with error set. */
int export_http_start(int socket_fd, export_render *render, void *context,
    struct export_http **result, struct error *error);

/* Ends connections that take too long; to be called about once a second. */
void export_http_tick(struct export_http *server);

/* Where it listens, as a URL. */
const char *export_http_url(const struct export_http *server);

enum { EXPORT_HTTP_CODES = 4 };

/* Answers so far by status code. Any thread. */
void export_http_count(
    struct export_http *server, struct metrics_count counts[EXPORT_HTTP_CODES]);

void export_http_stop(struct export_http *server);

#endif
