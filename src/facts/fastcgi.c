/*
 * fastcgi.c - the client's side of FastCGI 1.0, as much as a status page needs.
 *
 * A record is an 8-byte header (version, type, request id, content length, padding) and
 * its content. One request: BEGIN_REQUEST, PARAMS, empty PARAMS, empty STDIN; the answer:
 * STDOUT and STDERR records, then END_REQUEST. The server is not trusted: lengths are bounded,
 * one deadline covers the whole exchange, also with one that never stops sending.
 *
 * Nor is the address: whoever forges a master's title names any socket, and with it a
 * script that the server behind it is to run. We may be root where the forger is not allowed
 * to connect, so a unix socket is asked only when the kernel says that the wanted process
 * made it listen (SO_PEERCRED gives the listener of that moment, net/unix/af_unix.c,
 * unix_listen()). A loopback port is open to every user of its network namespace anyway, but
 * must not be reached on behalf of a process in another one.
 */
#include "facts/fastcgi.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/number.h"

enum {
    VERSION = 1,
    TYPE_BEGIN = 1,
    TYPE_END = 3,
    TYPE_PARAMS = 4,
    TYPE_STDIN = 5,
    TYPE_STDOUT = 6,
    TYPE_STDERR = 7,
    ROLE_RESPONDER = 1,
    REQUEST_ID = 1,
    HEADER_BYTES = 8,
    RECORD_MAX_BYTES = 65535,
    READ_BYTES = 16 << 10,
};

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_un un;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } socket;
    socklen_t bytes;
};

static void append_record(
    struct buffer *out, uint8_t type, const void *content, size_t bytes)
{
    const uint8_t header[HEADER_BYTES] = {
        VERSION, type, 0, REQUEST_ID, (uint8_t)(bytes >> 8), (uint8_t)bytes, 0, 0};

    buffer_append(out, header, sizeof(header));
    buffer_append(out, content, bytes);
}

static void append_length(struct buffer *out, size_t bytes)
{
    if (bytes < 128) {
        buffer_append_char(out, (char)bytes);
    } else {
        const uint8_t length[4] = {(uint8_t)(bytes >> 24 | 0x80), (uint8_t)(bytes >> 16),
            (uint8_t)(bytes >> 8), (uint8_t)bytes};
        buffer_append(out, length, sizeof(length));
    }
}

static void append_parameter(struct buffer *out, const char *name, const char *value)
{
    append_length(out, strlen(name));
    append_length(out, strlen(value));
    buffer_append_text(out, name);
    buffer_append_text(out, value);
}

int fastcgi_encode(const struct fastcgi_request *request, struct buffer *out)
{
    const uint8_t begin[8] = {0, ROLE_RESPONDER};
    struct buffer parameters;
    int rc;

    buffer_init(&parameters);
    append_parameter(&parameters, "GATEWAY_INTERFACE", "CGI/1.1");
    append_parameter(&parameters, "REQUEST_METHOD", "GET");
    append_parameter(&parameters, "SCRIPT_NAME", request->script);
    append_parameter(&parameters, "SCRIPT_FILENAME", request->script);
    append_parameter(&parameters, "REQUEST_URI", request->script);
    append_parameter(&parameters, "QUERY_STRING", request->query);
    append_parameter(&parameters, "SERVER_PROTOCOL", "HTTP/1.1");
    append_parameter(&parameters, "SERVER_SOFTWARE", "strata");
    rc = buffer_error(&parameters);
    if (rc == 0 && parameters.length_bytes > RECORD_MAX_BYTES) {
        rc = -EFBIG;
    }
    if (rc == 0) {
        append_record(out, TYPE_BEGIN, begin, sizeof(begin));
        append_record(out, TYPE_PARAMS, parameters.data, parameters.length_bytes);
        append_record(out, TYPE_PARAMS, "", 0);
        append_record(out, TYPE_STDIN, "", 0);
        rc = buffer_error(out);
    }
    buffer_release(&parameters);
    return rc;
}

static int unix_address(const struct fastcgi_request *request, struct address *address)
{
    int length =
        snprintf(address->socket.un.sun_path, sizeof(address->socket.un.sun_path), "%s%s",
            request->path_prefix, request->listen);

    if (length < 0 || (size_t)length >= sizeof(address->socket.un.sun_path)) {
        return -ENAMETOOLONG;
    }
    address->socket.un.sun_family = AF_UNIX;
    address->bytes = sizeof(address->socket.un);
    return 0;
}

/* An empty host or the wildcard means every address: loopback reaches it. */
static bool is_wildcard(const char *host)
{
    return *host == '\0' || strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0 ||
           strcmp(host, "::") == 0 || strcmp(host, "localhost") == 0;
}

static int inet_address(const char *host, uint16_t port, struct address *address)
{
    struct sockaddr_in *in = &address->socket.in;
    struct sockaddr_in6 *in6 = &address->socket.in6;

    if (is_wildcard(host) || inet_pton(AF_INET, host, &in->sin_addr) == 1) {
        if (is_wildcard(host)) {
            in->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
        }
        in->sin_family = AF_INET;
        in->sin_port = htons(port);
        address->bytes = sizeof(*in);
        return ntohl(in->sin_addr.s_addr) >> 24 == IN_LOOPBACKNET ? 0 : -EINVAL;
    }
    if (inet_pton(AF_INET6, host, &in6->sin6_addr) == 1) {
        in6->sin6_family = AF_INET6;
        in6->sin6_port = htons(port);
        address->bytes = sizeof(*in6);
        return IN6_IS_ADDR_LOOPBACK(&in6->sin6_addr) ? 0 : -EINVAL;
    }
    return -EINVAL;
}

static int parse_listen(const struct fastcgi_request *request, struct address *address)
{
    char host[64] = "";
    const char *colon = strrchr(request->listen, ':');
    const char *port_text = colon == NULL ? request->listen : colon + 1;
    const char *start = request->listen;
    uint64_t port;

    *address = (struct address){0};
    if (*request->listen == '/') {
        return unix_address(request, address);
    }
    if (number_parse(port_text, &port) != 0 || port == 0 || port > UINT16_MAX) {
        return -EINVAL;
    }
    if (colon != NULL) {
        size_t length = (size_t)(colon - start);
        if (length >= 2 && *start == '[' && start[length - 1] == ']') {
            start++;
            length -= 2;
        }
        if (length >= sizeof(host)) {
            return -EINVAL;
        }
        memcpy(host, start, length);
    }
    return inet_address(host, (uint16_t)port, address);
}

static int64_t now_ms(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

/* Waits until fd is ready for events or the deadline has passed. */
static int wait_for(int fd, short events, int64_t deadline_ms)
{
    struct pollfd wanted = {.fd = fd, .events = events};
    int64_t left = deadline_ms - now_ms();
    int ready;

    if (left <= 0) {
        return -ETIMEDOUT;
    }
    ready = poll(&wanted, 1, (int)left);
    if (ready < 0) {
        return errno == EINTR ? 0 : -errno;
    }
    return ready == 0 ? -ETIMEDOUT : 0;
}

static int connect_to(const struct address *address, int64_t deadline_ms)
{
    int error = 0;
    socklen_t bytes = sizeof(error);
    int fd = socket(
        address->socket.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    int rc = 0;

    if (fd < 0) {
        return -errno;
    }
    if (connect(fd, &address->socket.any, address->bytes) != 0) {
        /* A unix socket with a full backlog says EAGAIN: nobody would answer in time. */
        rc = errno == EINPROGRESS ? wait_for(fd, POLLOUT, deadline_ms) : -errno;
        if (rc == 0 && getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &bytes) != 0) {
            rc = -errno;
        }
        rc = rc == 0 ? -error : rc;
    }
    if (rc != 0) {
        close(fd);
        return rc;
    }
    return fd;
}

/* Did the wanted process make the socket listen to which fd is connected? */
static int check_listener(
    int fd, const struct address *address, const struct fastcgi_request *request)
{
    struct ucred listener;
    socklen_t bytes = sizeof(listener);

    if (address->socket.any.sa_family != AF_UNIX) {
        return 0;
    }
    if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &listener, &bytes) != 0) {
        return -errno;
    }
    return listener.pid == request->server_pid ? 0 : -EREMOTE;
}

static int send_all(int fd, const struct buffer *out, int64_t deadline_ms)
{
    size_t sent = 0;

    while (sent < out->length_bytes) {
        ssize_t done = send(fd, out->data + sent, out->length_bytes - sent, MSG_NOSIGNAL);
        if (done > 0) {
            sent += (size_t)done;
        } else if (done < 0 && errno != EAGAIN && errno != EINTR) {
            return -errno;
        } else {
            int rc = wait_for(fd, POLLOUT, deadline_ms);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

int fastcgi_decode(const uint8_t *data, size_t bytes, size_t *used, struct buffer *answer)
{
    *used = 0;
    while (bytes - *used >= HEADER_BYTES) {
        const uint8_t *record = data + *used;
        size_t content = (size_t)record[4] << 8 | record[5];
        size_t whole = HEADER_BYTES + content + record[6];
        if (record[0] != VERSION || record[2] != 0 || record[3] != REQUEST_ID) {
            return -EPROTO;
        }
        if (bytes - *used < whole) {
            return 0;
        }
        *used += whole;
        switch (record[1]) {
        case TYPE_STDOUT:
            if (content > FASTCGI_MAX_ANSWER_BYTES - answer->length_bytes) {
                return -EFBIG;
            }
            buffer_append(answer, record + HEADER_BYTES, content);
            break;
        case TYPE_STDERR:
            break;
        case TYPE_END:
            return 1;
        default:
            return -EPROTO;
        }
    }
    return 0;
}

static int receive_answer(int fd, int64_t deadline_ms, struct buffer *answer)
{
    struct buffer in;
    size_t used;
    int rc = 0;

    buffer_init(&in);
    while (rc == 0) {
        char *place = buffer_reserve(&in, READ_BYTES);
        if (place == NULL) {
            rc = -ENOMEM;
            break;
        }
        ssize_t got = recv(fd, place, READ_BYTES, 0);
        if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
            rc = wait_for(fd, POLLIN, deadline_ms);
            continue;
        }
        if (got <= 0) {
            rc = got < 0 ? -errno : -EPROTO;
            break;
        }
        buffer_commit(&in, (size_t)got);
        rc = fastcgi_decode((const uint8_t *)in.data, in.length_bytes, &used, answer);
        in.length_bytes -= used;
        memmove(in.data, in.data + used, in.length_bytes);
        if (rc == 0 && now_ms() >= deadline_ms) {
            rc = -ETIMEDOUT;
        }
    }
    buffer_release(&in);
    return rc == 1 ? buffer_error(answer) : rc;
}

int fastcgi_get(const struct fastcgi_request *request, struct buffer *answer)
{
    int64_t deadline_ms = now_ms() + request->timeout_ms;
    struct address address;
    struct buffer out;
    int rc = parse_listen(request, &address);

    buffer_reset(answer);
    if (rc == 0 && address.socket.any.sa_family != AF_UNIX && !request->same_network) {
        rc = -EREMOTE;
    }
    if (rc != 0) {
        return rc;
    }
    int fd = connect_to(&address, deadline_ms);
    if (fd < 0) {
        return fd;
    }
    buffer_init(&out);
    rc = check_listener(fd, &address, request);
    rc = rc != 0 ? rc : fastcgi_encode(request, &out);
    rc = rc != 0 ? rc : send_all(fd, &out, deadline_ms);
    rc = rc != 0 ? rc : receive_answer(fd, deadline_ms, answer);
    buffer_release(&out);
    close(fd);
    return rc;
}
