/*
 * event.c - the model of Swoole: an event loop in each worker, a coroutine for each request.
 *
 * A coroutine runs until its query waits, then the loop serves others; it is resumed when
 * the time is over. All of a worker's requests share one heap, so nothing is dropped at
 * once: each block is freed, and what the heap keeps follows the largest crowd. Waits are
 * all equally long, so the list of sleepers is in order of their time.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "http.h"
#include "models.h"
#include "work.h"

enum { STACK_BYTES = 64 << 10, EVENTS = 64 };

struct worker;

struct coroutine {
    ucontext_t context;
    struct worker *worker;
    struct coroutine *next; /* of the sleepers, or of the free ones */
    void *stack;
    int64_t wake_ns;
    int client;
    bool done;
    struct http_request request;
};

struct worker {
    ucontext_t loop;
    struct strata_heap *heap;
    struct coroutine *first; /* sleepers, the next to wake first */
    struct coroutine *last;
    struct coroutine *unused;
    int poll;
    int listener;
    unsigned wait_ms;
};

static int64_t now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void sleep_in(struct coroutine *coroutine, unsigned wait_ms)
{
    struct worker *worker = coroutine->worker;

    coroutine->wake_ns = now_ns() + (int64_t)wait_ms * 1000000;
    coroutine->next = NULL;
    if (worker->first == NULL) {
        worker->first = coroutine;
    } else {
        worker->last->next = coroutine;
    }
    worker->last = coroutine;
    (void)swapcontext(&coroutine->context, &worker->loop);
}

/* Blocking for the answer: the client reads, and a model may wait for loopback. */
static void answer(int client, const struct work *work)
{
    char head[HTTP_HEAD_BYTES];
    const bool fine = work->body != NULL;
    const size_t bytes =
        http_head(head, fine ? "200 OK" : "500 Failed", fine ? work->body_bytes : 0);

    if (http_write(client, head, bytes) && fine) {
        (void)http_write(client, work->body, work->body_bytes);
    }
}

/* makecontext passes ints only; the loop leaves the pointer here. */
static struct coroutine *starting;

static void run_request(void)
{
    struct coroutine *self = starting;
    char page[WORK_PAGE_BYTES];
    struct work work;

    http_page(&self->request, page, sizeof(page));
    if (work_begin(&work, self->worker->heap, page, self->worker->wait_ms) != 0) {
        work_end(&work);
    }
    if (work.wait_ms > 0) {
        sleep_in(self, work.wait_ms);
    }
    answer(self->client, &work);
    work_end(&work);
    self->done = true;
    (void)swapcontext(&self->context, &self->worker->loop);
}

static struct coroutine *take(struct worker *worker)
{
    struct coroutine *coroutine = worker->unused;

    if (coroutine != NULL) {
        worker->unused = coroutine->next;
        return coroutine;
    }
    coroutine = calloc(1, sizeof(*coroutine));
    if (coroutine == NULL) {
        return NULL;
    }
    coroutine->worker = worker;
    coroutine->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
    if (coroutine->stack == MAP_FAILED) {
        free(coroutine);
        return NULL;
    }
    return coroutine;
}

static void give_back(struct worker *worker, struct coroutine *coroutine)
{
    (void)close(coroutine->client);
    coroutine->next = worker->unused;
    worker->unused = coroutine;
}

static void resume(struct worker *worker, struct coroutine *coroutine)
{
    (void)swapcontext(&worker->loop, &coroutine->context);
    if (coroutine->done) {
        give_back(worker, coroutine);
    }
}

static void start_request(struct worker *worker, struct coroutine *coroutine)
{
    (void)epoll_ctl(worker->poll, EPOLL_CTL_DEL, coroutine->client, NULL);
    (void)getcontext(&coroutine->context);
    coroutine->context.uc_stack.ss_sp = coroutine->stack;
    coroutine->context.uc_stack.ss_size = STACK_BYTES;
    coroutine->context.uc_link = &worker->loop;
    coroutine->done = false;
    makecontext(&coroutine->context, run_request, 0);
    starting = coroutine;
    resume(worker, coroutine);
}

static void accept_client(struct worker *worker)
{
    const int client = accept4(worker->listener, NULL, NULL, SOCK_CLOEXEC);
    struct coroutine *coroutine = client < 0 ? NULL : take(worker);

    if (coroutine == NULL) {
        if (client >= 0) {
            (void)close(client);
        }
        return;
    }
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = coroutine}};
    coroutine->client = client;
    coroutine->request.bytes = 0;
    coroutine->request.text[0] = '\0';
    if (epoll_ctl(worker->poll, EPOLL_CTL_ADD, client, &event) != 0) {
        give_back(worker, coroutine);
    }
} /* NOLINT(clang-analyzer-unix.Malloc): epoll has it until it is read */

static void read_client(struct worker *worker, struct coroutine *coroutine)
{
    struct http_request *request = &coroutine->request;
    const ssize_t bytes = recv(coroutine->client, request->text + request->bytes,
        HTTP_REQUEST_BYTES - request->bytes, MSG_DONTWAIT);

    if (bytes <= 0) {
        if (bytes == 0 || (errno != EAGAIN && errno != EINTR)) {
            (void)epoll_ctl(worker->poll, EPOLL_CTL_DEL, coroutine->client, NULL);
            give_back(worker, coroutine);
        }
        return;
    }
    request->bytes += (size_t)bytes;
    request->text[request->bytes] = '\0';
    if (http_is_complete(request)) {
        start_request(worker, coroutine);
    }
}

static void wake_sleepers(struct worker *worker)
{
    const int64_t now = now_ns();

    while (worker->first != NULL && worker->first->wake_ns <= now) {
        struct coroutine *coroutine = worker->first;
        worker->first = coroutine->next;
        resume(worker, coroutine);
    }
}

static int timeout_of(const struct worker *worker)
{
    if (worker->first == NULL) {
        return -1;
    }
    const int64_t left = worker->first->wake_ns - now_ns();
    return left <= 0 ? 0 : (int)(left / 1000000) + 1;
}

static void run_worker(int listener, unsigned wait_ms)
{
    struct epoll_event events[EVENTS];
    struct epoll_event event = {.events = EPOLLIN | EPOLLEXCLUSIVE};
    struct worker worker = {.heap = work_heap(),
        .listener = listener,
        .wait_ms = wait_ms,
        .poll = epoll_create1(EPOLL_CLOEXEC)};

    if (worker.heap == NULL || worker.poll < 0 ||
        epoll_ctl(worker.poll, EPOLL_CTL_ADD, listener, &event) != 0) {
        _exit(1);
    }
    for (;;) {
        const int count = epoll_wait(worker.poll, events, EVENTS, timeout_of(&worker));
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                accept_client(&worker);
            } else {
                read_client(&worker, events[i].data.ptr);
            }
        }
        wake_sleepers(&worker);
    }
}

int model_event(const struct model_options *options)
{
    return model_serve(options, true, run_worker);
}
