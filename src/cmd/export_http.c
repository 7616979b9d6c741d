/*
 * export_http.c - libmicrohttpd, told to give nobody more than their share.
 *
 * One thread serves all connections. Each has a fixed piece of memory, a time in which it must be
 * done whatever it sends (libmicrohttpd's own time-out counts from the last byte, so one byte
 * every few seconds would hold a place for ever), and there is a fixed number of them. When
 * more than half of the places are taken that time shrinks. A page is made at most once a
 * second and shared by all who ask for it.
 *
 * A connection that is late is shut down, not closed: libmicrohttpd then sees its end and
 * closes it. The lock makes sure that its descriptor is still its own, since
 * MHD_CONNECTION_NOTIFY_CLOSED comes before the close (libmicrohttpd 0.9.75, daemon.c,
 * MHD_cleanup_connections).
 */
#include "cmd/export_http.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "cmd/export_library.h"
#include "cmd/export_socket.h"
#include "cmd/watch_look.h"

enum {
    CONNECTIONS_MAX = 256,
    CONNECTION_BYTES = 16 << 10,
    IDLE_SECONDS = 10,
    THREAD_BYTES = 512 << 10,
    URL_BYTES = 96,
};

#define SECOND_NS UINT64_C(1000000000)
#define DEADLINE_NS (10 * SECOND_NS)
#define DEADLINE_CROWDED_NS (2 * SECOND_NS)
#define PAGE_LIFE_NS SECOND_NS

static struct export_library library; /* loaded before the first server starts */

static const char index_text[] =
    "<!DOCTYPE html><html lang=\"en\"><title>strata export</title>"
    "<p>strata export: where the memory of this host goes. <a "
    "href=\"/metrics\">/metrics</a>"
    "</html>\n";

/* The answers that do not change; the code of each in code_numbers. */
enum answer { ANSWER_FINE, ANSWER_NOT_FOUND, ANSWER_METHOD, ANSWER_FAILED, ANSWER_COUNT };

static const unsigned code_numbers[EXPORT_HTTP_CODES] = {[ANSWER_FINE] = MHD_HTTP_OK,
    [ANSWER_NOT_FOUND] = MHD_HTTP_NOT_FOUND,
    [ANSWER_METHOD] = MHD_HTTP_METHOD_NOT_ALLOWED,
    [ANSWER_FAILED] = MHD_HTTP_SERVICE_UNAVAILABLE};
static const char *const code_texts[EXPORT_HTTP_CODES] = {[ANSWER_FINE] = "200",
    [ANSWER_NOT_FOUND] = "404",
    [ANSWER_METHOD] = "405",
    [ANSWER_FAILED] = "503"};

struct connection_place {
    int fd; /* -1: free */
    uint64_t since_ns;
};

struct page {
    struct MHD_Response *response; /* NULL: none yet */
    uint64_t made_ns;
};

struct export_http {
    struct MHD_Daemon *daemon;
    export_render *render;
    void *context;
    char url[URL_BYTES];
    struct page pages[2]; /* by enum metrics_format; the server's thread only */
    struct MHD_Response *fixed[ANSWER_COUNT];
    atomic_ullong counts[EXPORT_HTTP_CODES]; /* by code */
    pthread_mutex_t lock;                    /* guards places */
    struct connection_place places[CONNECTIONS_MAX];
    size_t places_taken;
};

/* ---- answers; on the server's thread */

static struct MHD_Response *make_response(
    const char *text, size_t bytes, const char *type, enum MHD_ResponseMemoryMode mode)
{
    struct MHD_Response *response =
        library.create_response_from_buffer(bytes, (void *)(uintptr_t)text, mode);

    if (response != NULL) {
        (void)library.add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, type);
        (void)library.add_response_header(response, MHD_HTTP_HEADER_CONNECTION, "close");
        (void)library.add_response_header(
            response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
        (void)library.add_response_header(response, "X-Content-Type-Options", "nosniff");
    }
    return response;
}

static struct MHD_Response *render_page(
    struct export_http *server, enum metrics_format format)
{
    struct MHD_Response *response = NULL;
    struct buffer buffer;

    buffer_init(&buffer);
    if (server->render(server->context, format, &buffer) == 0 &&
        buffer_error(&buffer) == 0) {
        response = make_response(buffer_text(&buffer), buffer.length_bytes,
            metrics_content_type(format), MHD_RESPMEM_MUST_COPY);
    }
    buffer_release(&buffer);
    return response;
}

/* The page as it is now, or was less than a second ago; NULL: memory is short. */
static struct MHD_Response *current_page(
    struct export_http *server, enum metrics_format format)
{
    struct page *page = &server->pages[format];
    const uint64_t now_ns = watch_now_ns();

    if (page->response == NULL || now_ns - page->made_ns >= PAGE_LIFE_NS) {
        struct MHD_Response *response = render_page(server, format);
        if (response != NULL) {
            if (page->response != NULL) {
                library.destroy_response(page->response); /* those who read it keep it */
            }
            *page = (struct page){.response = response, .made_ns = now_ns};
        }
    }
    return page->response;
}

static enum metrics_format wanted_format(struct MHD_Connection *connection)
{
    const char *accept = library.lookup_connection_value(
        connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);

    return accept != NULL && strstr(accept, "application/openmetrics-text") != NULL
               ? METRICS_OPENMETRICS
               : METRICS_CLASSIC;
}

/* response: NULL for the fixed one. */
static enum MHD_Result send_answer(struct export_http *server,
    struct MHD_Connection *connection, enum answer answer, struct MHD_Response *response)
{
    (void)atomic_fetch_add(&server->counts[answer], 1);
    return library.queue_response(connection, code_numbers[answer],
        response != NULL ? response : server->fixed[answer]);
}

/* The parameters are those of MHD_AccessHandlerCallback. */
/* NOLINTNEXTLINE(readability-function-size) */
static enum MHD_Result answer_request(void *context, struct MHD_Connection *connection,
    const char *url, const char *method, const char *version, const char *upload_data,
    size_t *upload_data_size, void **request)
{
    struct export_http *server = context;
    static int seen;

    (void)version;
    (void)upload_data;
    if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 &&
        strcmp(method, MHD_HTTP_METHOD_HEAD) != 0) {
        return send_answer(server, connection, ANSWER_METHOD, NULL);
    }
    if (*request == NULL) { /* an answer to the head alone would close the connection */
        *request = &seen;
        return MHD_YES;
    }
    if (*upload_data_size != 0) {
        *upload_data_size = 0;
        return MHD_YES;
    }
    if (strcmp(url, "/") == 0) {
        return send_answer(server, connection, ANSWER_FINE, NULL);
    }
    if (strcmp(url, "/metrics") != 0) {
        return send_answer(server, connection, ANSWER_NOT_FOUND, NULL);
    }
    struct MHD_Response *page = current_page(server, wanted_format(connection));
    return send_answer(
        server, connection, page != NULL ? ANSWER_FINE : ANSWER_FAILED, page);
}

/* ---- connections */

static void take_place(struct export_http *server, int fd, void **place)
{
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        if (server->places[i].fd < 0) {
            server->places[i] =
                (struct connection_place){.fd = fd, .since_ns = watch_now_ns()};
            server->places_taken++;
            *place = &server->places[i];
            return;
        }
    }
}

static void note_connection(void *context, struct MHD_Connection *connection,
    void **socket_context, enum MHD_ConnectionNotificationCode code)
{
    struct export_http *server = context;

    (void)pthread_mutex_lock(&server->lock);
    if (code == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            library.get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        if (info != NULL) {
            take_place(server, info->connect_fd, socket_context);
        }
    } else if (*socket_context != NULL) {
        struct connection_place *place = *socket_context;
        place->fd = -1;
        server->places_taken--;
        *socket_context = NULL;
    }
    (void)pthread_mutex_unlock(&server->lock);
}

void export_http_tick(struct export_http *server)
{
    const uint64_t now_ns = watch_now_ns();

    (void)pthread_mutex_lock(&server->lock);
    const uint64_t deadline_ns =
        server->places_taken > CONNECTIONS_MAX / 2 ? DEADLINE_CROWDED_NS : DEADLINE_NS;
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        const struct connection_place *place = &server->places[i];
        if (place->fd >= 0 && now_ns - place->since_ns > deadline_ns) {
            (void)shutdown(place->fd, SHUT_RDWR);
        }
    }
    (void)pthread_mutex_unlock(&server->lock);
}

/* ---- begin and end */

static void free_server(struct export_http *server)
{
    for (size_t i = 0; i < ANSWER_COUNT; i++) {
        if (server->fixed[i] != NULL) {
            library.destroy_response(server->fixed[i]);
        }
    }
    for (size_t i = 0; i < 2; i++) {
        if (server->pages[i].response != NULL) {
            library.destroy_response(server->pages[i].response);
        }
    }
    (void)pthread_mutex_destroy(&server->lock);
    free(server);
}

static bool make_fixed(struct export_http *server)
{
    static const char *const texts[ANSWER_COUNT] = {[ANSWER_FINE] = index_text,
        [ANSWER_NOT_FOUND] = "there is only /metrics here\n",
        [ANSWER_METHOD] = "only GET and HEAD\n",
        [ANSWER_FAILED] = "memory is short\n"};

    for (size_t i = 0; i < ANSWER_COUNT; i++) {
        server->fixed[i] = make_response(texts[i], strlen(texts[i]),
            i == ANSWER_FINE ? "text/html; charset=utf-8" : "text/plain; charset=utf-8",
            MHD_RESPMEM_PERSISTENT);
        if (server->fixed[i] == NULL) {
            return false;
        }
    }
    (void)library.add_response_header(
        server->fixed[ANSWER_METHOD], MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
    return true;
}

static void discard_log(void *context, const char *format, va_list arguments)
{
    (void)context;
    (void)format;
    (void)arguments;
}

int export_http_start(int socket_fd, export_render *render, void *context,
    struct export_http **result, struct error *error)
{
    int rc = export_library_load(&library, error);

    if (rc != 0) {
        return rc;
    }
    struct export_http *server = calloc(1, sizeof(*server));
    if (server == NULL) {
        return error_set(error, -ENOMEM, "cannot serve: out of memory");
    }
    server->render = render;
    server->context = context;
    (void)pthread_mutex_init(&server->lock, NULL);
    for (size_t i = 0; i < CONNECTIONS_MAX; i++) {
        server->places[i].fd = -1;
    }
    export_socket_describe(socket_fd, server->url, sizeof(server->url));
    if (make_fixed(server)) {
        server->daemon = library.start_daemon(
            MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL,
            NULL, answer_request, server, MHD_OPTION_EXTERNAL_LOGGER, discard_log, NULL,
            MHD_OPTION_LISTEN_SOCKET, socket_fd, MHD_OPTION_CONNECTION_LIMIT,
            (unsigned)CONNECTIONS_MAX, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
            (size_t)CONNECTION_BYTES, MHD_OPTION_CONNECTION_TIMEOUT,
            (unsigned)IDLE_SECONDS, MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_BYTES,
            MHD_OPTION_NOTIFY_CONNECTION, note_connection, server, MHD_OPTION_END);
    }
    if (server->daemon == NULL) {
        free_server(server);
        return error_set(error, -EIO, "cannot serve: libmicrohttpd does not start");
    }
    *result = server;
    return 0;
}

const char *export_http_url(const struct export_http *server)
{
    return server->url;
}

void export_http_count(
    struct export_http *server, struct metrics_count counts[EXPORT_HTTP_CODES])
{
    for (size_t i = 0; i < EXPORT_HTTP_CODES; i++) {
        counts[i] = (struct metrics_count){
            .reason = code_texts[i], .value = atomic_load(&server->counts[i])};
    }
}

void export_http_stop(struct export_http *server)
{
    library.stop_daemon(server->daemon);
    free_server(server);
}
