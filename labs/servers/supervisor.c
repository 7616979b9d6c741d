/*
 * supervisor.c - the model of RoadRunner: one process holds the connections and feeds workers.
 *
 * A worker behind a pipe gets one page name at a time and answers with length and
 * body; the supervisor copies the body to the client. Requests queue in the supervisor while
 * all workers are busy.
 */
#include <errno.h>
#include <poll.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"
#include "models.h"
#include "work.h"

enum { CLIENTS = 1024, WORKERS = 256, FREE = -1 };

struct client {
    int socket; /* FREE: an empty place */
    bool queued;
    struct http_request request;
};

struct feeder {
    int pipe;
    int client; /* index of the client it works for, FREE: idle */
};

struct supervisor {
    struct client clients[CLIENTS];
    struct feeder feeders[WORKERS];
    unsigned workers;
    int listener;
    int queue[CLIENTS]; /* indices of clients, a ring */
    unsigned head;
    unsigned queued;
};

static bool read_all(int pipe, void *data, size_t bytes)
{
    char *at = data;

    while (bytes > 0) {
        const ssize_t got = recv(pipe, at, bytes, 0);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got <= 0) {
            return false;
        }
        at += got;
        bytes -= (size_t)got;
    }
    return true;
}

static _Noreturn void run_worker(int pipe, unsigned wait_ms)
{
    struct strata_heap *heap = work_heap();
    char page[WORK_PAGE_BYTES];
    struct work work;

    while (heap != NULL && read_all(pipe, page, sizeof(page))) {
        page[sizeof(page) - 1] = '\0';
        const bool fine =
            work_begin(&work, heap, page, wait_ms) == 0 && work.body != NULL;
        const uint64_t bytes = fine ? work.body_bytes : 0;
        model_wait(work.wait_ms);
        if (!http_write(pipe, &bytes, sizeof(bytes)) ||
            (fine && !http_write(pipe, work.body, work.body_bytes))) {
            break;
        }
        strata_heap_end_request(heap);
    }
    _exit(1);
}

static void drop_client(struct supervisor *supervisor, int index)
{
    (void)close(supervisor->clients[index].socket);
    supervisor->clients[index].socket = FREE;
}

static void feed(struct supervisor *supervisor)
{
    for (unsigned i = 0; i < supervisor->workers && supervisor->queued > 0; i++) {
        struct feeder *feeder = &supervisor->feeders[i];
        char page[WORK_PAGE_BYTES] = "";
        if (feeder->client != FREE) {
            continue;
        }
        const int index = supervisor->queue[supervisor->head % CLIENTS];
        supervisor->head++;
        supervisor->queued--;
        http_page(&supervisor->clients[index].request, page, sizeof(page));
        if (http_write(feeder->pipe, page, sizeof(page))) {
            feeder->client = index;
        } else {
            drop_client(supervisor, index);
        }
    }
}

/* Copies a worker's answer to the client. */
static void take_answer(struct supervisor *supervisor, struct feeder *feeder)
{
    const int index = feeder->client;
    char head[HTTP_HEAD_BYTES];
    uint64_t bytes = 0;
    char *body;

    feeder->client = FREE;
    if (!read_all(feeder->pipe, &bytes, sizeof(bytes)) || bytes > WORK_LARGE_BYTES) {
        exit(1); /* a worker died: the service ends, it is not half of itself */
    }
    body = malloc(bytes + 1);
    if (body == NULL || !read_all(feeder->pipe, body, bytes)) {
        exit(1);
    }
    if (http_write(supervisor->clients[index].socket, head,
            http_head(head, bytes > 0 ? "200 OK" : "500 Failed", bytes))) {
        (void)http_write(supervisor->clients[index].socket, body, bytes);
    }
    free(body);
    drop_client(supervisor, index);
}

static void read_client(struct supervisor *supervisor, int index)
{
    struct client *client = &supervisor->clients[index];
    struct http_request *request = &client->request;
    const ssize_t bytes = recv(client->socket, request->text + request->bytes,
        HTTP_REQUEST_BYTES - request->bytes, MSG_DONTWAIT);

    if (bytes <= 0) {
        drop_client(supervisor, index);
        return;
    }
    request->bytes += (size_t)bytes;
    request->text[request->bytes] = '\0';
    if (http_is_complete(request)) {
        client->queued = true;
        supervisor->queue[(supervisor->head + supervisor->queued) % CLIENTS] = index;
        supervisor->queued++;
    }
}

static void accept_client(struct supervisor *supervisor)
{
    const int socket = accept4(supervisor->listener, NULL, NULL, SOCK_CLOEXEC);

    for (int i = 0; socket >= 0 && i < CLIENTS; i++) {
        if (supervisor->clients[i].socket == FREE) {
            supervisor->clients[i].socket = socket;
            supervisor->clients[i].queued = false;
            supervisor->clients[i].request.bytes = 0;
            supervisor->clients[i].request.text[0] = '\0';
            return;
        }
    }
    if (socket >= 0) {
        (void)close(socket);
    }
}

static void turn(struct supervisor *supervisor)
{
    struct pollfd polls[1 + WORKERS + CLIENTS];
    int which[1 + WORKERS + CLIENTS];
    unsigned count = 0;

    polls[count++] = (struct pollfd){.fd = supervisor->listener, .events = POLLIN};
    for (unsigned i = 0; i < supervisor->workers; i++) {
        polls[count++] =
            (struct pollfd){.fd = supervisor->feeders[i].pipe, .events = POLLIN};
    }
    for (int i = 0; i < CLIENTS; i++) {
        if (supervisor->clients[i].socket != FREE && !supervisor->clients[i].queued) {
            which[count] = i;
            polls[count++] =
                (struct pollfd){.fd = supervisor->clients[i].socket, .events = POLLIN};
        }
    }
    if (poll(polls, count, -1) <= 0) {
        return;
    }
    for (unsigned i = 1 + supervisor->workers; i < count; i++) {
        if (polls[i].revents != 0) {
            read_client(supervisor, which[i]);
        }
    }
    for (unsigned i = 0; i < supervisor->workers; i++) {
        if (polls[1 + i].revents != 0) {
            take_answer(supervisor, &supervisor->feeders[i]);
        }
    }
    if (polls[0].revents != 0) {
        accept_client(supervisor);
    }
    feed(supervisor);
}

static int start_worker(struct supervisor *supervisor, unsigned wait_ms)
{
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0) {
        return -1;
    }
    const int child = model_fork();
    if (child == 0) {
        (void)close(pair[0]);
        run_worker(pair[1], wait_ms);
    }
    (void)close(pair[1]);
    supervisor->feeders[supervisor->workers++] =
        (struct feeder){.pipe = pair[0], .client = FREE};
    return child;
}

int model_supervisor(const struct model_options *options)
{
    static struct supervisor supervisor;

    supervisor.listener = http_listen(options->port, false);
    if (supervisor.listener < 0 || options->workers > WORKERS) {
        (void)fprintf(stderr, "model-server: cannot listen: %s\n", strerror(errno));
        return -1;
    }
    for (int i = 0; i < CLIENTS; i++) {
        supervisor.clients[i].socket = FREE;
    }
    for (unsigned i = 0; i < options->workers; i++) {
        if (start_worker(&supervisor, options->wait_ms) < 0) {
            return -1;
        }
    }
    for (;;) {
        turn(&supervisor);
    }
}
