/*
 * export_socket.c - a listening socket: from systemd, from --listen, else of loopback.
 *
 * Loopback is the default since the page tells what runs on the machine to whoever may ask.
 * Names are not looked up: an address is given as it is. Socket activation is that of
 * sd_listen_fds(3): LISTEN_PID is ours and LISTEN_FDS says 1, then descriptor 3 is the socket.
 */
#include "cmd/export_socket.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/number.h"

enum { BACKLOG = 64, FIRST_HANDED_FD = 3, ADDRESS_BYTES = 64, PORT_BYTES = 8 };

#define DEFAULT_HOST "127.0.0.1"
#define DEFAULT_PORT "9812"

struct address {
    char host[ADDRESS_BYTES];
    char port[PORT_BYTES];
};

static bool copy_piece(char *place, size_t room, const char *text, size_t bytes)
{
    if (bytes == 0 || bytes >= room) {
        return false;
    }
    memcpy(place, text, bytes);
    place[bytes] = '\0';
    return true;
}

static bool split(const char *text, struct address *address)
{
    const char *colon = strrchr(text, ':');
    const char *port = colon != NULL ? colon + 1 : text;
    size_t host_bytes = colon != NULL ? (size_t)(colon - text) : 0;
    uint64_t number;

    if (number_parse(port, &number) != 0 || number > UINT16_MAX ||
        !copy_piece(address->port, sizeof(address->port), port, strlen(port))) {
        return false;
    }
    if (colon == NULL) {
        text = DEFAULT_HOST;
        host_bytes = strlen(DEFAULT_HOST);
    } else if (host_bytes > 2 && *text == '[' && text[host_bytes - 1] == ']') {
        text++;
        host_bytes -= 2;
    } else if (memchr(text, ':', host_bytes) != NULL) {
        return false; /* a bare IPv6 address: where does its port begin? */
    }
    return copy_piece(address->host, sizeof(address->host), text, host_bytes);
}

/* The address of a socket; bytes is 0 when the text is none. */
struct place {
    struct sockaddr_storage address;
    socklen_t bytes;
};

static struct place place_of(const struct address *address)
{
    struct place place = {.bytes = 0};
    struct sockaddr_in *four = (struct sockaddr_in *)&place.address;
    struct sockaddr_in6 *six = (struct sockaddr_in6 *)&place.address;
    uint64_t port = 0;

    (void)number_parse(address->port, &port); /* split() has seen that it is one */
    if (inet_pton(AF_INET, address->host, &four->sin_addr) == 1) {
        four->sin_family = AF_INET;
        four->sin_port = htons((uint16_t)port);
        place.bytes = sizeof(*four);
    } else if (inet_pton(AF_INET6, address->host, &six->sin6_addr) == 1) {
        six->sin6_family = AF_INET6;
        six->sin6_port = htons((uint16_t)port);
        place.bytes = sizeof(*six);
    }
    return place;
}

static int listen_at(const struct place *place)
{
    const int one = 1;
    int fd =
        socket(place->address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0) {
        return -errno;
    }
    (void)setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
    if (bind(fd, (const struct sockaddr *)&place->address, place->bytes) != 0 ||
        listen(fd, BACKLOG) != 0) {
        int rc = -errno;
        (void)close(fd);
        return rc;
    }
    return fd;
}

static int open_address(const char *text, struct error *error)
{
    struct address address;
    struct place place = {.bytes = 0};

    if (split(text, &address)) {
        place = place_of(&address);
    }
    if (place.bytes == 0) {
        return error_set(error, -EINVAL,
            "cannot listen on '%s': give ADDRESS:PORT, [ADDRESS]:PORT or PORT, with a "
            "numeric address",
            text);
    }
    int fd = listen_at(&place);
    if (fd < 0) {
        return error_set(
            error, fd, "cannot listen on '%s': %s", text, strerrordesc_np(-fd));
    }
    return fd;
}

/* True when systemd says that it hands over one socket to this process. */
static bool is_activated(void)
{
    const char *pid = getenv("LISTEN_PID");
    const char *count = getenv("LISTEN_FDS");
    uint64_t number;

    return pid != NULL && count != NULL && number_parse(pid, &number) == 0 &&
           number == (uint64_t)getpid() && strcmp(count, "1") == 0;
}

static int take_handed(struct error *error)
{
    int listens = 0;
    socklen_t bytes = sizeof(listens);

    if (getsockopt(FIRST_HANDED_FD, SOL_SOCKET, SO_ACCEPTCONN, &listens, &bytes) != 0 ||
        listens == 0) {
        return error_set(error, -EINVAL,
            "cannot use the socket of LISTEN_FDS: it is none that listens");
    }
    int flags = fcntl(FIRST_HANDED_FD, F_GETFL);
    (void)fcntl(FIRST_HANDED_FD, F_SETFD, FD_CLOEXEC);
    if (flags < 0 || fcntl(FIRST_HANDED_FD, F_SETFL, flags | O_NONBLOCK) != 0) {
        return error_set(error, -errno, "cannot use the socket of LISTEN_FDS: %s",
            strerrordesc_np(errno));
    }
    return FIRST_HANDED_FD;
}

int export_socket_open(const char *address, struct error *error)
{
    if (address == NULL && is_activated()) {
        return take_handed(error);
    }
    return open_address(address != NULL ? address : DEFAULT_HOST ":" DEFAULT_PORT, error);
}

void export_socket_describe(int socket_fd, char *url, size_t bytes)
{
    struct sockaddr_storage address = {.ss_family = AF_UNSPEC};
    const struct sockaddr_in *four = (const struct sockaddr_in *)&address;
    const struct sockaddr_in6 *six = (const struct sockaddr_in6 *)&address;
    socklen_t length = sizeof(address);
    char host[INET6_ADDRSTRLEN] = "";

    (void)getsockname(socket_fd, (struct sockaddr *)&address, &length);
    if (address.ss_family == AF_INET &&
        inet_ntop(AF_INET, &four->sin_addr, host, sizeof(host)) != NULL) {
        (void)snprintf(url, bytes, "http://%s:%d/metrics", host, ntohs(four->sin_port));
    } else if (address.ss_family == AF_INET6 &&
               inet_ntop(AF_INET6, &six->sin6_addr, host, sizeof(host)) != NULL) {
        (void)snprintf(url, bytes, "http://[%s]:%d/metrics", host, ntohs(six->sin6_port));
    } else {
        (void)snprintf(url, bytes, "a socket without an address");
    }
}
