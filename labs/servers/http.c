/*
 * http.c - requests are small and have no body; answers close the connection.
 *
 * The models are loaded by one generator on loopback: there is no keep-alive, as with ab by
 * default, so that a connection never pins a worker.
 */
#include "http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 511 };

bool http_is_complete(const struct http_request *request)
{
    return strstr(request->text, "\r\n\r\n") != NULL;
}

void http_page(const struct http_request *request, char *page, size_t page_bytes)
{
    const char *path = strchr(request->text, ' ');
    const char *end = path == NULL ? NULL : strpbrk(path + 1, " ?\r\n");
    const char *start;

    page[0] = '\0';
    if (end == NULL) {
        return;
    }
    for (start = end; start > path + 1 && start[-1] != '/'; start--) {
    }
    (void)snprintf(page, page_bytes, "%.*s", (int)(end - start), start);
}

size_t http_head(char head[HTTP_HEAD_BYTES], const char *status, size_t body_bytes)
{
    const int bytes = snprintf(head, HTTP_HEAD_BYTES,
        "HTTP/1.1 %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n"
        "Connection: close\r\n\r\n",
        status, body_bytes);

    return bytes > 0 ? (size_t)bytes : 0;
}

bool http_write(int socket, const void *data, size_t bytes)
{
    const char *at = data;

    while (bytes > 0) {
        const ssize_t sent = send(socket, at, bytes, MSG_NOSIGNAL);
        if (sent < 0 && errno == EINTR) {
            continue;
        }
        if (sent <= 0) {
            return false;
        }
        at += sent;
        bytes -= (size_t)sent;
    }
    return true;
}

int http_listen(unsigned port, bool nonblocking)
{
    const struct sockaddr_in address = {.sin_family = AF_INET,
        .sin_port = htons((uint16_t)port),
        .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    const int one = 1;
    const int type = SOCK_STREAM | SOCK_CLOEXEC | (nonblocking ? SOCK_NONBLOCK : 0);
    const int listener = socket(AF_INET, type, 0);

    if (listener < 0) {
        return -1;
    }
    if (setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) != 0 ||
        bind(listener, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(listener, BACKLOG) != 0) {
        (void)close(listener);
        return -1;
    }
    return listener;
}
