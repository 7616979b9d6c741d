/*
 * generator.c - epoll, one connection for each request, a histogram of latencies.
 *
 * HTTP answers end with the connection (the request asks for that), FastCGI ones with their
 * end record. The histogram has 100 steps for each power of ten from 1 us on, so a quantile is
 * within 2.4 percent.
 */
#include "trial/generator.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/number.h"
#include "facts/fastcgi.h"
#include "facts/web_value.h"

enum {
    HISTOGRAM_DECADES = 8,
    HISTOGRAM_STEPS = 100,
    HISTOGRAM_CELLS = HISTOGRAM_DECADES * HISTOGRAM_STEPS,
    EVENTS = 64,
    ANSWER_MOST_BYTES = 4 << 20,
    READ_BYTES = 64 << 10,
    TIMEOUT_SECONDS = 10,
    PORT_MOST = 65535,
    PREFIX_BYTES = 64,
};

static const int64_t second_ns = 1000000000;

struct address {
    union {
        struct sockaddr any;
        struct sockaddr_in internet;
        struct sockaddr_un local;
    } socket;
    socklen_t socket_bytes;
    char request[1024]; /* HTTP text */
    size_t request_bytes;
    struct buffer fastcgi; /* or records */
    bool is_fastcgi;
};

struct connection {
    int socket; /* -1: none */
    bool sent;
    size_t sent_bytes;
    int64_t intended_ns;
    struct buffer answer;
    size_t used; /* FastCGI: bytes decoded */
    struct buffer content;
};

struct generator {
    const struct load_request *request;
    struct load_result *result;
    struct address address;
    struct connection *connections;
    int poll;
    unsigned busy;
    uint64_t started;
    uint64_t histogram[HISTOGRAM_CELLS];
    double latency_sum_us;
    int64_t begin_ns;
    int64_t end_ns;
    int failure; /* of the last request that failed: -errno */
};

/* "/run/php.sock:/page": the socket's path up to the colon; *text goes on behind it. */
static int parse_local(const char **text, struct address *address)
{
    struct sockaddr_un *local = &address->socket.local;
    const size_t bytes = strcspn(*text, ":");

    if (**text != '/' || (*text)[bytes] != ':' || (*text)[bytes + 1] != '/' ||
        bytes >= sizeof(local->sun_path)) {
        return -EINVAL;
    }
    local->sun_family = AF_UNIX;
    memcpy(local->sun_path, *text, bytes);
    address->socket_bytes = sizeof(*local);
    *text += bytes + 1;
    return 0;
}

static int parse_internet(
    const char **text, struct address *address, char host[64], uint64_t *port)
{
    struct sockaddr_in *internet = &address->socket.internet;
    const char *url = *text;
    const size_t host_bytes = strspn(url, "0123456789.");

    if (strncmp(url, "localhost", 9) == 0) {
        (void)snprintf(host, 64, "127.0.0.1");
        url += 9;
    } else { /* an address, so that no name is looked up while the load runs */
        (void)snprintf(host, 64, "%.*s", (int)host_bytes, url);
        url += host_bytes;
    }
    if (*url == ':') {
        url++;
        if (number_read(&url, 10, port) != 0 || *port == 0 || *port > PORT_MOST) {
            return -EINVAL;
        }
    }
    internet->sin_family = AF_INET;
    internet->sin_port = htons((uint16_t)*port);
    address->socket_bytes = sizeof(*internet);
    *text = url;
    return inet_pton(AF_INET, host, &internet->sin_addr) == 1 ? 0 : -EINVAL;
}

static int parse_address(const struct load_request *request, struct address *address)
{
    char host[64];
    uint64_t port = 80;
    const char *url = request->url;

    *address = (struct address){.is_fastcgi = strncmp(url, "fastcgi://", 10) == 0};
    if (!address->is_fastcgi && strncmp(url, "http://", 7) != 0) {
        return -EINVAL;
    }
    url += address->is_fastcgi ? 10 : 7;
    int rc;
    if (address->is_fastcgi && strncmp(url, "unix:", 5) == 0) {
        url += 5;
        rc = parse_local(&url, address);
    } else {
        rc = parse_internet(&url, address, host, &port);
    }
    if (rc != 0) {
        return rc;
    }
    buffer_init(&address->fastcgi);
    if (address->is_fastcgi) {
        char script[512];
        const char *query = strchr(url, '?');
        const size_t bytes = query == NULL ? strlen(url) : (size_t)(query - url);
        if (bytes >= sizeof(script)) {
            return -E2BIG;
        }
        (void)snprintf(script, sizeof(script), "%.*s", (int)bytes, url);
        const struct fastcgi_request fastcgi = {
            .script = script, .query = query == NULL ? "" : query + 1};
        return fastcgi_encode(&fastcgi, &address->fastcgi);
    }
    const int bytes = snprintf(address->request, sizeof(address->request),
        "GET %s HTTP/1.0\r\nHost: %s:%" PRIu64 "\r\nConnection: close\r\n\r\n",
        *url == '\0' ? "/" : url, host, port);
    address->request_bytes = bytes > 0 ? (size_t)bytes : 0;
    return address->request_bytes < sizeof(address->request) ? 0 : -E2BIG;
}

static void count_latency(struct generator *generator, int64_t ns)
{
    const double us = ns < 1000 ? 1.0 : (double)ns / 1000;
    const double cell = log10(us) * HISTOGRAM_STEPS;
    const size_t index = cell >= HISTOGRAM_CELLS ? HISTOGRAM_CELLS - 1 : (size_t)cell;

    generator->histogram[index]++;
    generator->latency_sum_us += us;
    if (us > generator->result->most_us) {
        generator->result->most_us = us;
    }
}

static double quantile_us(const struct generator *generator, double quantile)
{
    const double wanted = ceil(quantile * (double)generator->result->requests);
    double seen = 0;

    for (size_t i = 0; i < HISTOGRAM_CELLS; i++) {
        seen += (double)generator->histogram[i];
        if (seen >= wanted && seen > 0) {
            return pow(10.0, ((double)i + 0.5) / HISTOGRAM_STEPS);
        }
    }
    return 0;
}

static void close_connection(struct generator *generator, struct connection *connection)
{
    if (connection->socket >= 0) {
        (void)close(connection->socket);
        connection->socket = -1;
        generator->busy--;
    }
}

static void fail(struct generator *generator, struct connection *connection, int code)
{
    generator->failure = code;
    if (service_now_ns() <= generator->end_ns) { /* what ends later is not of this run */
        generator->result->failed++;
    }
    close_connection(generator, connection);
}

/*
 * False when the head (up to its empty line) names another length than the body has, or none
 * that can be: an answer that was cut off is none. Heads of FastCGI may name one as well.
 */
static bool has_named_length(const char *head, const char *body, size_t body_bytes)
{
    static const char name[] = "\r\nContent-Length:";
    const size_t name_bytes = sizeof(name) - 1;

    for (const char *at = head; at + name_bytes < body; at++) {
        if (strncasecmp(at, name, name_bytes) == 0) {
            const char *text = at + name_bytes;
            uint64_t length;
            text += strspn(text, " \t");
            if (number_read(&text, 10, &length) != 0 || length != body_bytes) {
                return false;
            }
        }
    }
    return true;
}

/* Status and body of an answer: 0, 1 another status, 2 another body. */
static int verdict_of(
    const struct load_expected *expected, const char *text, size_t bytes, bool http)
{
    const char *body = NULL;
    size_t body_bytes = 0;

    for (size_t i = 0; i + 4 <= bytes && body == NULL; i++) {
        if (memcmp(text + i, "\r\n\r\n", 4) == 0) {
            body = text + i + 4;
            body_bytes = bytes - i - 4;
        }
    }
    if (body == NULL || (http ? bytes < 12 || memcmp(text + 8, " 200", 4) != 0
                              : bytes >= 7 && memcmp(text, "Status:", 7) == 0 &&
                                    strncmp(text, "Status: 200", 11) != 0)) {
        return 1;
    }
    if (!has_named_length(text, body, body_bytes)) {
        return 2;
    }
    const size_t prefix = strlen(expected->prefix);
    if (body_bytes < prefix || memcmp(body, expected->prefix, prefix) != 0 ||
        (expected->bytes != 0 && expected->bytes != body_bytes)) {
        return 2;
    }
    return 0;
}

static void finish(struct generator *generator, struct connection *connection)
{
    const struct buffer *text =
        generator->address.is_fastcgi ? &connection->content : &connection->answer;
    const int64_t now = service_now_ns();
    const int verdict = verdict_of(&generator->request->expected, buffer_text(text),
        text->length_bytes, !generator->address.is_fastcgi);

    if (now <= generator->end_ns) {
        if (verdict == 0) {
            generator->result->requests++;
            count_latency(generator, now - connection->intended_ns);
        } else if (verdict == 1) {
            generator->result->bad_status++;
        } else {
            generator->result->bad_body++;
        }
    }
    close_connection(generator, connection);
}

static int start(
    struct generator *generator, struct connection *connection, int64_t intended)
{
    struct epoll_event event = {
        .events = EPOLLIN | EPOLLOUT, .data = {.ptr = connection}};

    connection->socket = socket(generator->address.socket.any.sa_family,
        SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (connection->socket < 0) {
        generator->result->failed++;
        return -errno;
    }
    generator->busy++;
    generator->started++;
    connection->sent = false;
    connection->sent_bytes = 0;
    connection->used = 0;
    connection->intended_ns = intended;
    buffer_reset(&connection->answer);
    buffer_reset(&connection->content);
    if ((connect(connection->socket, &generator->address.socket.any,
             generator->address.socket_bytes) != 0 &&
            errno != EINPROGRESS) ||
        epoll_ctl(generator->poll, EPOLL_CTL_ADD, connection->socket, &event) != 0) {
        const int code = -errno;
        fail(generator, connection, code);
        return code;
    }
    return 0;
}

static void send_more(struct generator *generator, struct connection *connection)
{
    const struct address *address = &generator->address;
    const char *data =
        address->is_fastcgi ? buffer_text(&address->fastcgi) : address->request;
    const size_t bytes =
        address->is_fastcgi ? address->fastcgi.length_bytes : address->request_bytes;
    struct epoll_event event = {.events = EPOLLIN, .data = {.ptr = connection}};
    const ssize_t sent = send(connection->socket, data + connection->sent_bytes,
        bytes - connection->sent_bytes, MSG_NOSIGNAL);

    if (sent < 0) {
        if (errno != EAGAIN && errno != EINTR) {
            fail(generator, connection, -errno);
        }
        return;
    }
    connection->sent_bytes += (size_t)sent;
    if (connection->sent_bytes == bytes) {
        connection->sent = true;
        (void)epoll_ctl(generator->poll, EPOLL_CTL_MOD, connection->socket, &event);
    }
}

/* True when FastCGI's end record has come; a broken record fails the request. */
static int decode(struct connection *connection)
{
    size_t used = 0;
    const int rc = fastcgi_decode(
        (const uint8_t *)buffer_text(&connection->answer) + connection->used,
        connection->answer.length_bytes - connection->used, &used, &connection->content);

    connection->used += used;
    return rc;
}

static void read_more(struct generator *generator, struct connection *connection)
{
    for (;;) {
        char *place = buffer_reserve(&connection->answer, READ_BYTES);
        const ssize_t bytes =
            place == NULL ? -1 : recv(connection->socket, place, READ_BYTES, 0);
        if (bytes < 0) {
            if (place == NULL || (errno != EAGAIN && errno != EINTR)) {
                fail(generator, connection, place == NULL ? -ENOMEM : -errno);
            }
            return;
        }
        buffer_commit(&connection->answer, (size_t)bytes);
        if (connection->answer.length_bytes > ANSWER_MOST_BYTES) {
            fail(generator, connection, -EFBIG);
            return;
        }
        const int rc = generator->address.is_fastcgi ? decode(connection) : bytes == 0;
        if (rc == 1) {
            finish(generator, connection);
            return;
        }
        if (rc < 0 || bytes == 0) {
            fail(generator, connection, -EPROTO);
            return;
        }
    }
}

static void serve_events(struct generator *generator, int timeout_ms)
{
    struct epoll_event events[EVENTS];
    const int count = epoll_wait(generator->poll, events, EVENTS, timeout_ms);

    for (int i = 0; i < count; i++) {
        struct connection *connection = events[i].data.ptr;
        if (connection->socket < 0) {
            continue;
        }
        if (!connection->sent && (events[i].events & (EPOLLOUT | EPOLLERR)) != 0) {
            send_more(generator, connection);
        }
        if (connection->socket >= 0 && connection->sent &&
            (events[i].events & (EPOLLIN | EPOLLHUP | EPOLLERR)) != 0) {
            read_more(generator, connection);
        }
    }
}

static void drop_late(struct generator *generator, int64_t now)
{
    for (unsigned i = 0; i < generator->request->connections; i++) {
        struct connection *connection = &generator->connections[i];
        if (connection->socket >= 0 &&
            now - connection->intended_ns > TIMEOUT_SECONDS * second_ns) {
            fail(generator, connection, -ETIMEDOUT);
        }
    }
}

/* Closed loop: every free connection starts at once. Open loop: those that are due. */
static void start_due(struct generator *generator, int64_t now)
{
    const struct load_request *request = generator->request;

    for (unsigned i = 0; i < request->connections; i++) {
        struct connection *connection = &generator->connections[i];
        int64_t intended = now;
        if (connection->socket >= 0) {
            continue;
        }
        if (request->rate > 0) {
            intended = generator->begin_ns +
                       (int64_t)((double)generator->started / request->rate * 1e9);
            if (intended > now) {
                return;
            }
        }
        if (start(generator, connection, intended) != 0) {
            return;
        }
    }
}

static int next_start_ms(const struct generator *generator, int64_t now)
{
    if (generator->request->rate <= 0) {
        return 100;
    }
    const int64_t next = generator->begin_ns + (int64_t)((double)generator->started /
                                                         generator->request->rate * 1e9);
    const int64_t left = (next - now) / 1000000;
    return left < 0 ? (generator->busy == generator->request->connections ? 20 : 0)
                    : (int)(left < 100 ? left : 100);
}

static void summarise(struct generator *generator)
{
    struct load_result *result = generator->result;
    const double rate = generator->request->rate;

    result->seconds = (double)(generator->end_ns - generator->begin_ns) / 1e9;
    result->mean_us =
        result->requests == 0 ? 0 : generator->latency_sum_us / (double)result->requests;
    result->p50_us = quantile_us(generator, 0.50);
    result->p90_us = quantile_us(generator, 0.90);
    result->p99_us = quantile_us(generator, 0.99);
    if (rate > 0) {
        const double intended = rate * result->seconds;
        result->unsent = intended > (double)generator->started
                             ? (uint64_t)(intended - (double)generator->started)
                             : 0;
    }
    result->complete = !service_was_told_to_stop();
}

static int prepare(struct generator *generator)
{
    const unsigned count = generator->request->connections;

    generator->connections = calloc(count, sizeof(struct connection));
    generator->poll = epoll_create1(EPOLL_CLOEXEC);
    if (generator->connections == NULL || generator->poll < 0) {
        return -ENOMEM;
    }
    for (unsigned i = 0; i < count; i++) {
        generator->connections[i].socket = -1;
        buffer_init(&generator->connections[i].answer);
        buffer_init(&generator->connections[i].content);
    }
    return parse_address(generator->request, &generator->address);
}

static void release(struct generator *generator)
{
    for (unsigned i = 0;
         generator->connections != NULL && i < generator->request->connections; i++) {
        close_connection(generator, &generator->connections[i]);
        buffer_release(&generator->connections[i].answer);
        buffer_release(&generator->connections[i].content);
    }
    free(generator->connections);
    buffer_release(&generator->address.fastcgi);
    if (generator->poll >= 0) {
        (void)close(generator->poll);
    }
}

/*
 * Waits for the answers that are still out: a server goes on with a request whose client
 * left, and the next run would find its workers busy. They do not count.
 */
static void drain(struct generator *generator)
{
    while (generator->busy > 0 && !service_was_told_to_stop()) {
        serve_events(generator, 20);
        drop_late(generator, service_now_ns());
    }
}

void generator_run(const struct load_request *request, struct load_result *result)
{
    struct generator generator = {.request = request, .result = result, .poll = -1};
    const int rc = prepare(&generator);

    if (rc != 0) {
        (void)snprintf(result->why, LOAD_WHY_BYTES, "cannot load '%.100s': %s",
            web_shown(request->url).text, strerror(-rc));
        release(&generator);
        return;
    }
    generator.begin_ns = service_now_ns();
    generator.end_ns = generator.begin_ns + request->seconds * second_ns;
    for (int64_t now = generator.begin_ns;
         now < generator.end_ns && !service_was_told_to_stop(); now = service_now_ns()) {
        start_due(&generator, now);
        serve_events(&generator, next_start_ms(&generator, now));
        drop_late(&generator, now);
    }
    drain(&generator);
    summarise(&generator);
    release(&generator);
}

bool generator_accepts(const char *url)
{
    const struct load_request request = {.url = url};
    struct address address;
    const bool accepted = parse_address(&request, &address) == 0;

    buffer_release(&address.fastcgi);
    return accepted;
}

int generator_probe(const struct load_request *request)
{
    struct load_result result = {.tool = LOAD_OWN};
    struct generator generator = {.request = request, .result = &result, .poll = -1};
    int rc = prepare(&generator);

    generator.begin_ns = service_now_ns();
    generator.end_ns = generator.begin_ns + TIMEOUT_SECONDS * second_ns;
    if (rc == 0) {
        rc = start(&generator, &generator.connections[0], generator.begin_ns);
    }
    while (rc == 0 && generator.busy > 0 && service_now_ns() < generator.end_ns &&
           !service_was_told_to_stop()) {
        serve_events(&generator, 100);
    }
    if (rc == 0) {
        rc = result.requests == 1                       ? 0
             : result.bad_status + result.bad_body == 1 ? -EPROTO
             : result.failed == 1                       ? generator.failure
                                                        : -ETIMEDOUT;
    }
    release(&generator);
    return rc;
}
