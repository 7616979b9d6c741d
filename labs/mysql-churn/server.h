/*
 * server.h - a MariaDB server of the lab's own: data, socket and log in the lab's folder, no
 * network, ended with the lab.
 */
#ifndef STRATA_LABS_MYSQL_CHURN_SERVER_H
#define STRATA_LABS_MYSQL_CHURN_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "subject.h"

enum { SERVER_PATH_BYTES = 640 };

struct server {
    const char *folder; /* of the lab */
    struct subject subject;
    char socket[SERVER_PATH_BYTES];
    char data[SERVER_PATH_BYTES];
    char log[SERVER_PATH_BYTES];
};

/* One way to run it. */
struct server_way {
    const char *variable; /* "NAME=VALUE" for its environment, or NULL */
    const char *preload;  /* path of an allocator, or NULL */
    int64_t thread_cache; /* thread_cache_size */
};

/*
 * Makes the data folder. False when a program is missing; *package is what to install then.
 * Ends the program when the installation fails.
 */
bool server_install(struct server *server, const char *folder, const char **package);

/* Starts it and waits until it answers; ends the program when it does not. */
void server_start(struct server *server, const struct server_way *way);

/* Asks it to end, and waits. */
void server_stop(struct server *server);

#endif
