/*
 * fpm_server.h - a PHP-FPM of our own: one pool of one worker, behind a socket in a temporary
 * folder, with one script for all requests.
 */
#ifndef STRATA_LABS_PHP_FPM_STAIRCASE_FPM_SERVER_H
#define STRATA_LABS_PHP_FPM_STAIRCASE_FPM_SERVER_H

#include <stddef.h>
#include <sys/types.h>

#include "lab.h"

struct fpm_server {
    pid_t master;
    pid_t worker;
    char folder[LAB_PATH_BYTES];
};

/* STRATA_PHP_FPM from the environment, or php-fpm8.2. */
const char *fpm_server_program(void);

/*
 * Starts it and waits for its worker; it ends with this process at the latest. 0 or
 * -errno; -ENOENT when there is no such program.
 */
int fpm_server_init(struct fpm_server *server, const char *script);
void fpm_server_release(struct fpm_server *server);

/*
 * One request by the program cgi-fcgi; what it answers goes to text, which is always
 * terminated. Returns when the worker waits for the next request: its end of the request
 * is behind it then. 0 or -errno; -ENOENT when there is no cgi-fcgi.
 */
int fpm_server_get(
    const struct fpm_server *server, const char *query, char *text, size_t text_bytes);

#endif
