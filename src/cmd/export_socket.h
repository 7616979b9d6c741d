/* export_socket.h - where `strata export` listens. */
#ifndef STRATA_CMD_EXPORT_SOCKET_H
#define STRATA_CMD_EXPORT_SOCKET_H

#include <stddef.h>

#include "base/error.h"

/*
 * A listening socket for "ADDRESS:PORT", "[ADDRESS]:PORT" or "PORT" of loopback; or the one
 * that systemd handed over (LISTEN_FDS) when address is NULL and there is one; else loopback
 * and the default port. The descriptor, or -errno with error set (-EINVAL: not an address).
 */
int export_socket_open(const char *address, struct error *error);

/* Where the socket listens, as a URL of at most bytes. */
void export_socket_describe(int socket_fd, char *url, size_t bytes);

#endif
