/*
 * channel.c - lines over a unix socket, for the lab's server and its load driver.
 *
 * Only unix sockets: the lab's traffic cannot leave the machine. Nothing here allocates, so
 * what the server's heap looks like is the work of its requests alone.
 */
#include "channel.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { BACKLOG = 512 };

static int fill_address(struct sockaddr_un *address, const char *path)
{
    size_t length = strlen(path);

    if (length >= sizeof(address->sun_path)) {
        return -ENAMETOOLONG;
    }
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    memcpy(address->sun_path, path, length + 1);
    return 0;
}

int channel_listen(const char *path)
{
    struct sockaddr_un address;
    int fd, result = fill_address(&address, path);

    if (result != 0) {
        return result;
    }
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -errno;
    }
    (void)unlink(path);
    if (bind(fd, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        listen(fd, BACKLOG) != 0) {
        result = -errno;
        (void)close(fd);
        return result;
    }
    return fd;
}

int channel_connect(struct channel *channel, const char *path)
{
    struct sockaddr_un address;
    int result = fill_address(&address, path);

    if (result != 0) {
        return result;
    }
    *channel = (struct channel){.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)};
    if (channel->fd < 0) {
        return -errno;
    }
    if (connect(channel->fd, (struct sockaddr *)&address, sizeof(address)) != 0) {
        result = -errno;
        (void)close(channel->fd);
    }
    return result;
}

/* Hands out the first line of pending: 1, or 0 when there is no whole line yet. */
static int take_line(struct channel *channel, char *line)
{
    char *end = memchr(channel->pending, '\n', channel->length);
    size_t length;

    if (end == NULL) {
        return 0;
    }
    length = (size_t)(end - channel->pending);
    memcpy(line, channel->pending, length);
    line[length] = '\0';
    channel->length -= length + 1;
    memmove(channel->pending, end + 1, channel->length);
    return 1;
}

int channel_read(struct channel *channel, char *line)
{
    while (take_line(channel, line) == 0) {
        ssize_t bytes;
        if (channel->length == sizeof(channel->pending)) {
            return -EMSGSIZE;
        }
        bytes = read(channel->fd, channel->pending + channel->length,
            sizeof(channel->pending) - channel->length);
        if (bytes < 0 && errno == EINTR) {
            continue;
        }
        if (bytes <= 0) {
            return bytes == 0 ? 0 : -errno;
        }
        channel->length += (size_t)bytes;
    }
    return 1;
}

int channel_write(struct channel *channel, const char *text)
{
    char line[CHANNEL_LINE_BYTES];
    int length = snprintf(line, sizeof(line), "%s\n", text);
    size_t done = 0;

    if (length < 0 || (size_t)length >= sizeof(line)) {
        return -EMSGSIZE;
    }
    while (done < (size_t)length) {
        ssize_t bytes =
            send(channel->fd, line + done, (size_t)length - done, MSG_NOSIGNAL);
        if (bytes < 0 && errno != EINTR) {
            return -errno;
        }
        done += bytes > 0 ? (size_t)bytes : 0;
    }
    return 0;
}
