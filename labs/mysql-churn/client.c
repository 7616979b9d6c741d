/*
 * client.c - packets of the client/server protocol, version 10, as the MariaDB
 * documentation describes it ("Clients & Utilities", "MariaDB Client/Server Protocol").
 *
 * Every packet has a length of three bytes and a number. What comes from the server is not
 * trusted with more than its length: fields are cut, never copied beyond their place. A
 * packet of 16 MiB or more, which is continued in the next one, is refused.
 */
#include "client.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

#include "base.h"

enum {
    HEADER_BYTES = 4,
    LARGEST_PACKET_BYTES = 0xFFFFFF,
    ANSWER_SECONDS = 300,
    PACKET_OK = 0x00,
    PACKET_EOF = 0xFE,
    PACKET_ERROR = 0xFF,
    EOF_MOST_BYTES = 9,
    COMMAND_QUIT = 1,
    COMMAND_QUERY = 3,
    FIELD_NULL = 0xFB,
    FIELD_2_BYTES = 0xFC,
    FIELD_3_BYTES = 0xFD,
    ERROR_TEXT_OFFSET = 9, /* code, '#', five letters of SQLSTATE */
    /* CLIENT_LONG_PASSWORD, PROTOCOL_41, SECURE_CONNECTION, PLUGIN_AUTH */
    CAPABILITIES = 0x1 | 0x200 | 0x8000 | 0x80000,
    UTF8_COLLATION = 33,
};

/* The first bytes of a packet; the rest was dropped. */
struct packet {
    size_t length;
    size_t kept;
    unsigned char data[CLIENT_TEXT_BYTES]; /* and a 0 at the end */
};

static int fail(struct client *client, const char *what, const char *text)
{
    (void)snprintf(client->error, sizeof(client->error), "%.60s: %.180s", what, text);
    return -1;
}

static int fill(struct client *client)
{
    ssize_t bytes;

    do {
        bytes = read(client->fd, client->buffer, sizeof(client->buffer));
    } while (bytes < 0 && errno == EINTR);
    if (bytes <= 0) {
        return fail(client, "the server is gone",
            bytes == 0 ? "end of the connection" : strerror(errno));
    }
    client->start = 0;
    client->end = (size_t)bytes;
    return 0;
}

/* Takes count bytes; the first ones go to target as far as room reaches. */
static int take(struct client *client, size_t count, unsigned char *target, size_t room)
{
    while (count > 0) {
        if (client->start == client->end && fill(client) != 0) {
            return -1;
        }
        size_t part = client->end - client->start;
        part = part < count ? part : count;
        const size_t copied = part < room ? part : room;
        if (copied > 0) {
            memcpy(target, client->buffer + client->start, copied);
            target += copied;
            room -= copied;
        }
        client->start += part;
        count -= part;
    }
    return 0;
}

/* A number of count bytes, lowest first. */
static size_t little(const unsigned char *bytes, size_t count)
{
    size_t number = 0;

    for (size_t i = count; i > 0; i--) {
        number = number << 8 | bytes[i - 1];
    }
    return number;
}

static int read_packet(struct client *client, struct packet *packet)
{
    unsigned char header[HEADER_BYTES];

    if (take(client, sizeof(header), header, sizeof(header)) != 0) {
        return -1;
    }
    packet->length = little(header, HEADER_BYTES - 1);
    packet->kept =
        packet->length < sizeof(packet->data) ? packet->length : sizeof(packet->data) - 1;
    packet->data[packet->kept] = '\0';
    if (packet->length == 0 || packet->length == LARGEST_PACKET_BYTES) {
        return fail(client, "the server", "sent a packet of no use here");
    }
    if (take(client, packet->length, packet->data, packet->kept) != 0) {
        return -1;
    }
    if (packet->data[0] == PACKET_ERROR) {
        const size_t offset =
            packet->kept > ERROR_TEXT_OFFSET ? ERROR_TEXT_OFFSET : packet->kept;
        return fail(client, "the server refuses", (const char *)packet->data + offset);
    }
    return 0;
}

static int send_bytes(struct client *client, const unsigned char *bytes, size_t count)
{
    while (count > 0) {
        const ssize_t sent = send(client->fd, bytes, count, MSG_NOSIGNAL);
        if (sent < 0 && errno != EINTR) {
            return fail(client, "cannot send", strerror(errno));
        }
        if (sent > 0) {
            bytes += sent;
            count -= (size_t)sent;
        }
    }
    return 0;
}

static void write_header(unsigned char header[HEADER_BYTES], size_t length, size_t number)
{
    for (size_t i = 0; i + 1 < HEADER_BYTES; i++) {
        header[i] = (unsigned char)(length >> (8 * i));
    }
    header[HEADER_BYTES - 1] = (unsigned char)number;
}

static int say_hello(struct client *client)
{
    static const char tail[] = "root\0\0mysql_native_password";
    unsigned char packet[HEADER_BYTES + 32 + sizeof(tail)] = {0};
    unsigned char *body = packet + HEADER_BYTES;

    write_header(packet, sizeof(packet) - HEADER_BYTES, 1);
    for (size_t i = 0; i < 4; i++) {
        body[i] = (unsigned char)((unsigned)CAPABILITIES >> (8 * i));
    }
    body[7] = 1; /* packets of up to 16 MiB: 1 << 24 */
    body[8] = UTF8_COLLATION;
    memcpy(body + 32, tail, sizeof(tail));
    return send_bytes(client, packet, sizeof(packet));
}

int client_open(struct client *client, const char *path)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const struct timeval patience = {.tv_sec = ANSWER_SECONDS};
    struct packet packet;

    client->start = client->end = 0;
    client->error[0] = client->value[0] = '\0';
    if (strlen(path) >= sizeof(address.sun_path)) {
        client->fd = -1;
        return fail(client, "cannot connect", "the path of the socket is too long");
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    client->fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client->fd < 0 ||
        connect(client->fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        (void)fail(client, "cannot connect", strerror(errno));
        client_close(client);
        return -1;
    }
    (void)setsockopt(client->fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof(patience));
    if (read_packet(client, &packet) != 0 || say_hello(client) != 0 ||
        read_packet(client, &packet) != 0) {
        client_close(client);
        return -1;
    }
    return 0;
}

struct client *client_new(const char *path)
{
    struct client *client = malloc(sizeof(*client));

    if (client == NULL || client_open(client, path) != 0) {
        lab_die(client != NULL ? client->error : "no memory for a connection");
    }
    return client;
}

/* The first field of a row, cut where it is too long. */
static void keep_value(struct client *client, const struct packet *row)
{
    size_t head = 1, length = row->data[0];

    if (length == FIELD_2_BYTES || length == FIELD_3_BYTES) {
        const size_t count = length == FIELD_2_BYTES ? 2 : 3;
        head = 1 + count;
        length = row->kept >= head ? little(row->data + 1, count) : 0;
    }
    if (row->data[0] == FIELD_NULL || head > row->kept) {
        length = 0;
    }
    length = length < row->kept - head ? length : row->kept - head;
    (void)snprintf(client->value, sizeof(client->value), "%.*s", (int)length,
        (const char *)row->data + head);
}

/* Columns up to an end mark, rows up to the next one. */
static int read_rows(struct client *client)
{
    struct packet packet;

    for (int ends = 0; ends < 2;) {
        if (read_packet(client, &packet) != 0) {
            return -1;
        }
        if (packet.data[0] == PACKET_EOF && packet.length < EOF_MOST_BYTES) {
            ends++;
        } else if (ends == 1) {
            keep_value(client, &packet);
        }
    }
    return 0;
}

int client_run(struct client *client, const char *statement)
{
    unsigned char header[HEADER_BYTES + 1];
    const size_t length = strlen(statement);
    struct packet packet;

    client->value[0] = '\0';
    write_header(header, length + 1, 0);
    header[HEADER_BYTES] = COMMAND_QUERY;
    if (send_bytes(client, header, sizeof(header)) != 0 ||
        send_bytes(client, (const unsigned char *)statement, length) != 0 ||
        read_packet(client, &packet) != 0) {
        return -1;
    }
    return packet.data[0] == PACKET_OK ? 0 : read_rows(client);
}

int64_t client_number(struct client *client, const char *statement)
{
    char *end;

    if (client_run(client, statement) != 0) {
        return LAB_UNKNOWN;
    }
    const long long number = strtoll(client->value, &end, 10);
    return end != client->value ? number : LAB_UNKNOWN;
}

void client_close(struct client *client)
{
    static const unsigned char goodbye[] = {1, 0, 0, 0, COMMAND_QUIT};

    if (client->fd >= 0) {
        (void)send(client->fd, goodbye, sizeof(goodbye), MSG_NOSIGNAL | MSG_DONTWAIT);
        (void)close(client->fd);
    }
    client->fd = -1;
}
