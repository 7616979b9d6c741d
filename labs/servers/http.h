/* http.h - as much of HTTP/1.0 as the models of servers need: one request, one answer, close. */
#ifndef STRATA_LABS_SERVERS_HTTP_H
#define STRATA_LABS_SERVERS_HTTP_H

#include <stdbool.h>
#include <stddef.h>

enum { HTTP_REQUEST_BYTES = 2048, HTTP_HEAD_BYTES = 160 };

/* What a client has sent so far. */
struct http_request {
    char text[HTTP_REQUEST_BYTES + 1];
    size_t bytes;
};

/* The blank line behind the headers has come. */
bool http_is_complete(const struct http_request *request);

/* The last word of the request's path, "hello" of "GET /a/hello HTTP/1.1"; "" for none. */
void http_page(const struct http_request *request, char *page, size_t page_bytes);

/* The head of an answer of that many bytes; returns its length. status is "200 OK". */
size_t http_head(char head[HTTP_HEAD_BYTES], const char *status, size_t body_bytes);

/* Writes all of it to a blocking socket; false when the client is gone. */
bool http_write(int socket, const void *data, size_t bytes);

/* Listens on a loopback port; the socket, or -1 with errno set. */
int http_listen(unsigned port, bool nonblocking);

#endif
