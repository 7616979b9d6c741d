/*
 * mysql_client.c - the child's side: connect, SELECT, SHOW, done.
 *
 * What a hostile server could make a client do is switched off: sending a file (LOCAL
 * INFILE), showing a password in clear (only plugins that do not are allowed; over a unix
 * socket caching_sha2_password may, so a password goes only to a server whose user
 * is trusted), and packets without bound.
 */
#include "facts/mysql_client.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/json_writer.h"
#include "base/number.h"
#include "facts/mysql_library.h"
#include "facts/mysql_options.h"
#include "facts/mysql_statement.h"

enum {
    TIMEOUT_SECONDS = 1, /* to connect, and for each read and write */
    PROTOCOL_TCP = 1,    /* enum mysql_protocol_type */
    PROTOCOL_SOCKET = 2,
    CLIENT_ERRORS = 2000, /* from here on to SERVER_ERRORS: of the connection */
    SERVER_ERRORS = 3000,
    ERROR_DENIED = 1045, /* ER_ACCESS_DENIED_ERROR */
    ERROR_DENIED_NO_PASSWORD = 1698,
    MANY_CONNECTIONS = 256, /* beyond, summing by thread costs the server too much */
    FD_PATH_BYTES = 32,
};

static const size_t max_packet_bytes = 1 << 20;

struct client {
    const struct mysql_request *request;
    struct mysql_library library;
    struct mysql_handle *handle;
    enum mysql_family family;
    int out_fd;
    bool schema_off;      /* performance_schema = OFF */
    bool memory_denied;   /* the global table could not be read */
    uint64_t connections; /* Threads_connected */
};

static void send_line(struct client *client, struct buffer *line)
{
    buffer_append_char(line, '\n');
    if (buffer_error(line) == 0) {
        (void)descriptor_write_all(client->out_fd, line->data, line->length_bytes);
    }
    buffer_release(line);
}

static void begin_line(
    struct json_writer *json, struct buffer *line, enum mysql_step step)
{
    buffer_init(line);
    json_writer_init(json, line, 0);
    json_object_begin(json);
    json_key(json, "step");
    json_quoted(json, mysql_step_names[step]);
}

static void send_error(
    struct client *client, enum mysql_step step, int64_t error, const char *text)
{
    struct json_writer json;
    struct buffer line;

    begin_line(&json, &line, step);
    json_key(&json, "error");
    json_signed(&json, error);
    json_key(&json, "text");
    json_quoted(&json, text);
    json_object_end(&json);
    send_line(client, &line);
}

static void send_server_error(struct client *client, enum mysql_step step)
{
    send_error(client, step, client->library.errno_of(client->handle),
        client->library.error(client->handle));
}

static void set_options(const struct client *client, struct mysql_handle *handle)
{
    static const unsigned timeout = TIMEOUT_SECONDS;
    static const unsigned off = 0;
    const unsigned protocol =
        client->request->endpoint->local ? PROTOCOL_SOCKET : PROTOCOL_TCP;
    const struct mysql_library *library = &client->library;

    (void)library->options(handle, MYSQL_OPTION_CONNECT_TIMEOUT, &timeout);
    (void)library->options(handle, MYSQL_OPTION_READ_TIMEOUT, &timeout);
    (void)library->options(handle, MYSQL_OPTION_WRITE_TIMEOUT, &timeout);
    (void)library->options(handle, MYSQL_OPTION_LOCAL_INFILE, &off);
    (void)library->options(handle, MYSQL_OPTION_PROTOCOL, &protocol);
    (void)library->options(handle, MYSQL_OPTION_CHARSET, "utf8mb4");
    (void)library->optionsv(handle, MYSQL_OPTION_MAX_PACKET, &max_packet_bytes);
    (void)library->optionsv(handle, MYSQL_OPTION_RESTRICTED_AUTH,
        "mysql_native_password,caching_sha2_password,client_ed25519,parsec");
}

/* One try as one user. The server's greeting and the peer are checked before it counts. */
static bool try_connect(struct client *client, const struct mysql_credentials *as)
{
    const struct mysql_endpoint *endpoint = client->request->endpoint;
    const struct mysql_library *library = &client->library;
    char path[FD_PATH_BYTES];

    if (client->handle != NULL) {
        library->close(client->handle);
    }
    client->handle = library->init(NULL);
    if (client->handle == NULL) {
        return false;
    }
    set_options(client, client->handle);
    (void)snprintf(path, sizeof(path), "/proc/self/fd/%d", endpoint->socket_fd);
    return library->real_connect(client->handle, endpoint->local ? NULL : endpoint->host,
               as->user, as->has_password ? as->password : "", NULL, endpoint->port,
               endpoint->local ? path : NULL, 0) != NULL;
}

/* The name that the system has for us; what unix_socket and auth_socket ask for. */
static void set_system_user(struct mysql_credentials *credentials)
{
    const char *name = geteuid() == 0 ? "root" : getenv("USER");

    (void)snprintf(credentials->user, sizeof(credentials->user), "%s",
        name != NULL ? name : "nobody");
}

static bool was_denied(const struct client *client)
{
    const unsigned error = client->library.errno_of(client->handle);

    return error == ERROR_DENIED || error == ERROR_DENIED_NO_PASSWORD;
}

/* As the option files say; else, and when that is denied, as the system's user. */
static bool connect_any(struct client *client)
{
    struct mysql_credentials given;
    struct mysql_credentials system = {.user = ""};
    bool connected = false;
    bool withheld = false;

    set_system_user(&system);
    if (mysql_options_read(client->request->defaults_file, &given) != 0) {
        send_error(client, MYSQL_STEP_CONNECT, MYSQL_ERROR_OPTIONS,
            "the option file cannot be read, or others may write to it");
        return false;
    }
    if (given.has_password && !client->request->may_send_password) {
        withheld = true;
    } else if (given.user[0] != '\0' || given.has_password) {
        if (given.user[0] == '\0') {
            set_system_user(&given);
        }
        connected = try_connect(client, &given);
        if (!connected && client->handle != NULL && !was_denied(client)) {
            explicit_bzero(&given, sizeof(given));
            send_server_error(client, MYSQL_STEP_CONNECT);
            return false;
        }
    }
    explicit_bzero(&given, sizeof(given));
    if (!connected) {
        connected = try_connect(client, &system);
    }
    if (!connected && withheld) {
        send_error(client, MYSQL_STEP_CONNECT, ERROR_DENIED,
            "the password of the option files was not sent: the server runs as a user "
            "which is neither root, nor you, nor a system account");
    } else if (!connected && client->handle != NULL) {
        send_server_error(client, MYSQL_STEP_CONNECT);
    }
    return connected;
}

static bool connect_checked(struct client *client)
{
    const struct mysql_request *request = client->request;
    const struct mysql_library *library = &client->library;
    struct json_writer json;
    struct buffer line;

    if (!connect_any(client)) {
        return false;
    }
    if (mysql_endpoint_check(request->folder, request->endpoint,
            library->get_socket(client->handle)) != 0) {
        send_error(client, MYSQL_STEP_CONNECT, MYSQL_ERROR_OTHER,
            "another process answers at the address");
        return false;
    }
    client->family = mysql_family_of(library->get_server_info(client->handle));
    begin_line(&json, &line, MYSQL_STEP_CONNECT);
    json_key(&json, "version");
    json_quoted(&json, library->get_server_info(client->handle));
    json_object_end(&json);
    send_line(client, &line);
    return true;
}

/* What later steps depend on. */
static void note(struct client *client, enum mysql_step step, char *const *row)
{
    if (row[0] == NULL || row[1] == NULL) {
        return;
    }
    if (step == MYSQL_STEP_VARIABLES && strcmp(row[0], "performance_schema") == 0) {
        client->schema_off = strcmp(row[1], "OFF") == 0;
    } else if (step == MYSQL_STEP_STATUS && strcmp(row[0], "Threads_connected") == 0) {
        (void)number_parse(row[1], &client->connections);
    }
}

static void write_row(struct json_writer *json, char *const *row,
    const unsigned long *lengths, unsigned fields)
{
    char cell[MYSQL_CELL_BYTES_MAX + 1];

    json_array_begin(json);
    for (unsigned i = 0; i < fields; i++) {
        if (row[i] == NULL) {
            json_nothing(json);
            continue;
        }
        const size_t bytes =
            lengths[i] < MYSQL_CELL_BYTES_MAX ? (size_t)lengths[i] : MYSQL_CELL_BYTES_MAX;
        memcpy(cell, row[i], bytes);
        cell[bytes] = '\0';
        json_quoted(json, cell);
    }
    json_array_end(json);
}

/* Writes the rows, at most MYSQL_ROWS_MAX. False: there were more, or the server failed. */
static bool write_rows(struct client *client, enum mysql_step step,
    struct mysql_result *result, struct json_writer *json)
{
    enum { MAX_FIELDS = 8 };
    const struct mysql_library *library = &client->library;
    const unsigned fields = library->num_fields(result);
    char **row;

    if (fields < 2 || fields > MAX_FIELDS) {
        return false;
    }
    for (size_t i = 0; (row = library->fetch_row(result)) != NULL; i++) {
        const unsigned long *lengths = library->fetch_lengths(result);
        if (i >= MYSQL_ROWS_MAX || lengths == NULL) {
            return false;
        }
        write_row(json, row, lengths, fields);
        note(client, step, row);
    }
    return library->errno_of(client->handle) == 0;
}

/* False when the answer was not whole: what follows on the wire would be taken for another. */
static bool send_rows(struct client *client, enum mysql_step step)
{
    const struct mysql_library *library = &client->library;
    struct mysql_result *result = library->use_result(client->handle);
    struct json_writer json;
    struct buffer line;
    bool whole;

    if (result == NULL) {
        send_server_error(client, step);
        return false;
    }
    begin_line(&json, &line, step);
    json_key(&json, "rows");
    json_array_begin(&json);
    whole = write_rows(client, step, result, &json);
    json_array_end(&json);
    json_object_end(&json);
    if (whole) {
        send_line(client, &line);
        library->free_result(result);
        return true;
    }
    buffer_release(&line);
    if (library->errno_of(client->handle) != 0) {
        const unsigned error = library->errno_of(client->handle);
        const bool useful = error < CLIENT_ERRORS || error >= SERVER_ERRORS;
        send_server_error(client, step);
        client->memory_denied = client->memory_denied || step == MYSQL_STEP_EVENTS;
        return useful;
    }
    send_error(client, step, MYSQL_ERROR_BOUND,
        "the answer has more rows or other columns than were asked for");
    return false;
}

/* False when the connection is no longer of use. */
static bool run_statement(struct client *client, enum mysql_step step, const char *text)
{
    const struct mysql_library *library = &client->library;

    if (library->real_query(client->handle, text, strlen(text)) != 0) {
        const unsigned error = library->errno_of(client->handle);
        send_server_error(client, step);
        client->memory_denied = client->memory_denied || step == MYSQL_STEP_EVENTS;
        return error < CLIENT_ERRORS || error >= SERVER_ERRORS;
    }
    return library->field_count(client->handle) == 0 || send_rows(client, step);
}

static bool is_wanted(const struct client *client, enum mysql_step step)
{
    if (step < MYSQL_STEP_INSTRUMENTS) {
        return true;
    }
    if (client->schema_off) {
        return false;
    }
    return step <= MYSQL_STEP_EVENTS ||
           (!client->memory_denied && client->connections <= MANY_CONNECTIONS);
}

static void run_steps(struct client *client)
{
    bool useful = true;

    for (int step = MYSQL_STEP_SESSION; useful && step < MYSQL_STEP_COUNT; step++) {
        for (size_t i = 0; useful && is_wanted(client, (enum mysql_step)step); i++) {
            struct buffer text;
            buffer_init(&text);
            if (!mysql_statement_text((enum mysql_step)step, client->family, i, &text) ||
                buffer_error(&text) != 0) {
                buffer_release(&text);
                break;
            }
            useful = run_statement(client, (enum mysql_step)step, buffer_text(&text));
            buffer_release(&text);
        }
    }
}

void mysql_client_run(const struct mysql_request *request, int out_fd)
{
    struct client client = {.request = request, .out_fd = out_fd};
    const char *why = NULL;

    if (mysql_library_load(&client.library, &why) != 0) {
        send_error(&client, MYSQL_STEP_LIBRARY, MYSQL_ERROR_LIBRARY, why);
    } else if (connect_checked(&client)) {
        run_steps(&client);
    }
    if (client.handle != NULL) {
        client.library.close(client.handle);
    }
    (void)descriptor_write_all(out_fd, MYSQL_STREAM_END, sizeof(MYSQL_STREAM_END) - 1);
}
