/* fastcgi.h - one request to a FastCGI server and its whole answer. */
#ifndef STRATA_FACTS_FASTCGI_H
#define STRATA_FACTS_FASTCGI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

enum { FASTCGI_MAX_ANSWER_BYTES = 4 << 20 };

struct fastcgi_request {
    const char
        *listen; /* "HOST:PORT", "[V6]:PORT", "PORT" or the path of a unix socket */
    const char *path_prefix; /* put before a socket's path: "/proc/PID/root", or "" */
    const char *script;      /* SCRIPT_NAME and SCRIPT_FILENAME: "/status" */
    const char *query;       /* QUERY_STRING: "json&full" */
    int timeout_ms;          /* for the whole exchange */
    int32_t server_pid; /* who must have made a unix socket listen, or it is not asked */
    bool same_network; /* the server's network namespace is ours; else no port is tried */
};

/*
 * Connects, sends a GET request and stores what the server writes to its standard output,
 * headers included, in answer. Only unix sockets and loopback addresses are connected to:
 * a pool of this machine is what is asked. 0, -ETIMEDOUT, -EPROTO (not FastCGI, or an answer cut
 * short), -EFBIG, -EINVAL (an address that is not local or cannot be read), -EREMOTE
 * (nothing was sent: another process listens there, or the port belongs to another network
 * namespace), or -errno of socket(2), connect(2), send(2), recv(2).
 */
int fastcgi_get(const struct fastcgi_request *request, struct buffer *answer);

/* Appends the records of request, of which script and query count. 0, -EFBIG or -ENOMEM. */
int fastcgi_encode(const struct fastcgi_request *request, struct buffer *out);

/*
 * Takes the records apart that a server sent and appends its standard output to answer.
 * Returns 1 when the end of the request was seen, 0 when more is needed, -EPROTO or
 * -EFBIG; *used says how many bytes were taken. For fuzzing apart from any socket.
 */
int fastcgi_decode(
    const uint8_t *data, size_t bytes, size_t *used, struct buffer *answer);

#endif
