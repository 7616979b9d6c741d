/* mysql_endpoint.h - where a server process listens, by its own descriptors. */
#ifndef STRATA_FACTS_MYSQL_ENDPOINT_H
#define STRATA_FACTS_MYSQL_ENDPOINT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/un.h>

#include "facts/process_folder.h"

enum { MYSQL_HOST_BYTES = 48 };

/* One socket that the process itself made listen. */
struct mysql_endpoint {
    bool local;                                                 /* a unix socket */
    char path[sizeof(((struct sockaddr_un *)0)->sun_path) + 1]; /* as it was bound */
    int socket_fd;               /* O_PATH on the socket's file, -1 for a port */
    char host[MYSQL_HOST_BYTES]; /* of a port: an address of this machine */
    uint16_t port;
};

/*
 * Looks for a listening unix socket of the process, then for a listening port when its
 * network namespace is ours; sockets of the X protocol are left out. The file of the socket is
 * opened in the process's own root (or working) directory and must belong to its user or to root, so
 * that nobody else's socket at an old path is taken for it. 0; -ENOENT none listens;
 * -EREMOTE only a port in another network namespace; -EPERM the file belongs to
 * somebody else; -ESRCH; or -errno of what could not be read (EACCES).
 */
int mysql_endpoint_find(
    struct process_folder *folder, uint32_t user_id, struct mysql_endpoint *endpoint);

/* Closes what find opened. */
void mysql_endpoint_close(struct mysql_endpoint *endpoint);

/*
 * Is the other end of the connected socket fd held by that process? A unix socket: it (or
 * the first process, for socket activation) made it listen. A port: one of its descriptors is the
 * connection's other end. 0 or -EREMOTE.
 */
int mysql_endpoint_check(
    struct process_folder *folder, const struct mysql_endpoint *endpoint, int fd);

#endif
