/*
 * client.h - as much of the client protocol of MariaDB as page views need.
 *
 * Own, and not libmariadb, so that the load needs no package to be built, and so that what
 * each view costs in the driver is small beside what it costs in the server.
 */
#ifndef STRATA_LABS_MYSQL_CHURN_CLIENT_H
#define STRATA_LABS_MYSQL_CHURN_CLIENT_H

#include <stddef.h>
#include <stdint.h>

enum { CLIENT_BUFFER_BYTES = 65536, CLIENT_TEXT_BYTES = 256 };

/* A connection; one thread at a time. */
struct client {
    int fd;
    size_t start; /* of what was received and not yet read, in buffer */
    size_t end;
    char error[CLIENT_TEXT_BYTES]; /* of the last call that failed */
    char value[CLIENT_TEXT_BYTES]; /* first field of the last row; "" without rows */
    unsigned char buffer[CLIENT_BUFFER_BYTES];
};

/* Logs in as root without a password over a unix socket: 0 or -1 (see error). */
int client_open(struct client *client, const char *path);

/* The same on the heap, for free(); ends the program when the server does not let us in. */
struct client *client_new(const char *path);

/* Runs one statement and reads its whole answer: 0 or -1. */
int client_run(struct client *client, const char *statement);

/* The first field of the last row as a number, or LAB_UNKNOWN. */
int64_t client_number(struct client *client, const char *statement);

/* Says goodbye and closes. */
void client_close(struct client *client);

#endif
