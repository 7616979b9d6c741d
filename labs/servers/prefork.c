/*
 * prefork.c - the model of PHP-FPM: one request at a time in each worker.
 *
 * The heap is emptied at the end of each request and keeps chunks by the average of what
 * requests needed (zend layout).
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"
#include "models.h"
#include "work.h"

static void serve(int client, struct strata_heap *heap, unsigned wait_ms)
{
    struct http_request request = {.bytes = 0};
    char page[WORK_PAGE_BYTES];
    char head[HTTP_HEAD_BYTES];
    struct work work;

    while (!http_is_complete(&request)) {
        const ssize_t bytes = recv(
            client, request.text + request.bytes, HTTP_REQUEST_BYTES - request.bytes, 0);
        if (bytes <= 0) {
            return;
        }
        request.bytes += (size_t)bytes;
    }
    http_page(&request, page, sizeof(page));
    if (work_begin(&work, heap, page, wait_ms) == 0 && work.body != NULL) {
        model_wait(work.wait_ms);
        if (http_write(client, head, http_head(head, "200 OK", work.body_bytes))) {
            (void)http_write(client, work.body, work.body_bytes);
        }
    } else {
        (void)http_write(client, head, http_head(head, "500 Failed", 0));
    }
    strata_heap_end_request(heap);
}

static void run_worker(int listener, unsigned wait_ms)
{
    struct strata_heap *heap = work_heap();

    while (heap != NULL) {
        const int client = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (client >= 0) {
            serve(client, heap, wait_ms);
            (void)close(client);
        }
    }
    _exit(1);
}

int model_prefork(const struct model_options *options)
{
    return model_serve(options, false, run_worker);
}
