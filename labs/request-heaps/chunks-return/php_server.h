/*
 * php_server.h - PHP's built-in web server as a worker which serves one request after the
 * other, on loopback, with one script for all of them.
 */
#ifndef STRATA_LABS_REQUEST_HEAPS_CHUNKS_RETURN_PHP_SERVER_H
#define STRATA_LABS_REQUEST_HEAPS_CHUNKS_RETURN_PHP_SERVER_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "lab.h"

struct php_server {
    pid_t pid;
    uint16_t port;
    char script[LAB_PATH_BYTES]; /* a temporary file */
};

/*
 * Starts it and waits until it accepts connections. It ends with this process at the
 * latest. Returns 0 or -errno; -ENOENT when there is no such program.
 */
int php_server_init(struct php_server *server, const char *php, const char *script);
void php_server_release(struct php_server *server);

/* GET /?QUERY; the answer with its headers goes to text, which is always terminated. */
int php_server_get(
    const struct php_server *server, const char *query, char *text, size_t text_bytes);

#endif
