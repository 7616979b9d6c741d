/*
 * folder.c - small files in one place, removed at the end.
 *
 * A port is free when the kernel gives it out for port 0; the sockets are closed together at
 * the end, so that all differ. Another program may take one in between: then the server
 * says so in its log, and the bench fails with that line.
 */
#include "trial/folder.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "trial/claim.h"

enum {
    FILE_MOST_BYTES = 1 << 20,
    PATH_BYTES = 4096,
    PORTS = 8,
    DEPTH = 16,
    MAKE_TRIES = 8
};

static const char *top_folder(void)
{
    const char *top = getenv("TMPDIR");

    return top != NULL && *top != '\0' ? top : "/tmp";
}

int folder_make(char *path, size_t bytes, int *claim)
{
    *claim = -EBUSY;
    for (int i = 0; i < MAKE_TRIES && *claim == -EBUSY; i++) {
        const int length = snprintf(
            path, bytes, "%s/" CLAIM_PREFIX "%d-XXXXXX", top_folder(), (int)getpid());
        if (length >= (int)bytes || mkdtemp(path) == NULL) {
            *claim = length >= (int)bytes ? -ENAMETOOLONG : -errno;
            path[0] = '\0';
            return *claim;
        }
        *claim = claim_take(path);
    }
    if (*claim < 0) {
        return *claim;
    }
    return chmod(path, 0755) == 0 ? 0 : -errno;
}

static int remove_one(
    const char *path, const struct stat *status, int kind, struct FTW *walk)
{
    (void)status;
    (void)kind;
    (void)walk;
    (void)remove(path);
    return 0;
}

void folder_remove(const char *path)
{
    (void)nftw(path, remove_one, DEPTH, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}

static int sweep_one(const char *path)
{
    folder_remove(path);
    return access(path, F_OK) == 0 ? -EBUSY : 0;
}

size_t folder_sweep(void)
{
    return claim_sweep(top_folder(), sweep_one);
}

int folder_read(const char *folder, const char *name, struct buffer *text)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    const int rc = descriptor_read_all(fd, FILE_MOST_BYTES, text);
    (void)close(fd);
    return rc;
}

int folder_write(const char *folder, const char *name, const struct buffer *text)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    const int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
    if (fd < 0) {
        return -errno;
    }
    int rc = descriptor_write_all(fd, buffer_text(text), text->length_bytes);
    if (close(fd) != 0 && rc == 0) {
        rc = -errno;
    }
    return rc;
}

void folder_tail(const char *path, char *line, size_t bytes)
{
    char text[PATH_BYTES + 1];
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = 0;

    line[0] = '\0';
    if (fd >= 0) {
        if (lseek(fd, -PATH_BYTES, SEEK_END) < 0) {
            (void)lseek(fd, 0, SEEK_SET);
        }
        length = descriptor_read(fd, text, PATH_BYTES);
        (void)close(fd);
    }
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == ' ')) {
        length--;
    }
    text[length > 0 ? length : 0] = '\0';
    const char *last = strrchr(text, '\n');
    (void)snprintf(line, bytes, "%s", last != NULL ? last + 1 : text);
}

static int bound_socket(unsigned *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_addr = {.s_addr = htonl(INADDR_LOOPBACK)}};
    socklen_t bytes = sizeof(address);
    const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0) {
        return -errno;
    }
    if (bind(fd, (const struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &bytes) != 0) {
        const int code = -errno;
        (void)close(fd);
        return code;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

int folder_free_ports(unsigned *ports, size_t count)
{
    int sockets[PORTS];
    size_t made = 0;
    int rc = 0;

    while (rc == 0 && made < count && made < PORTS) {
        sockets[made] = bound_socket(&ports[made]);
        rc = sockets[made] < 0 ? sockets[made] : 0;
        made += rc == 0 ? 1 : 0;
    }
    while (made > 0) {
        (void)close(sockets[--made]);
    }
    return rc;
}
