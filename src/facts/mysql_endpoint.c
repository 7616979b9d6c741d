/*
 * mysql_endpoint.c - from descriptors to an address.
 *
 * /proc/PID/fd names the inode of each socket, /proc/PID/net/{unix,tcp,tcp6} (of the
 * process's network namespace) say which of these listen and where: flags with __SO_ACCEPTCON
 * (0x10000) in unix (net/unix/af_unix.c), state 0A in tcp (net/ipv4/tcp_ipv4.c). An
 * address is 8 or 32 hex digits, words of 32 bits in the machine's order, and a port of 4.
 */
#include "facts/mysql_endpoint.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <netinet/in.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/text_line.h"

enum {
    MAX_DESCRIPTORS = 1 << 20,
    MAX_SOCKETS = 1 << 16,
    MAX_NET_BYTES = 32 << 20,
    STATE_LISTEN = 0x0a,
    FLAG_LISTENS = 0x10000,
    PORT_X_PROTOCOL = 33060,
    PORT_ADMIN = 33062,
};

/* Inodes of the sockets that the process has open, sorted. */
struct socket_set {
    uint64_t *inodes;
    size_t count;
};

static int compare_inodes(const void *left, const void *right)
{
    const uint64_t a = *(const uint64_t *)left;
    const uint64_t b = *(const uint64_t *)right;

    return (a > b) - (a < b);
}

static bool set_has(const struct socket_set *set, uint64_t inode)
{
    return set->count > 0 && bsearch(&inode, set->inodes, set->count,
                                 sizeof(*set->inodes), compare_inodes) != NULL;
}

static void set_release(struct socket_set *set)
{
    free(set->inodes);
    *set = (struct socket_set){.inodes = NULL};
}

/* Is the descriptor a socket, and which? */
static bool socket_inode(int folder_fd, const char *name, uint64_t *inode)
{
    static const char start[] = "socket:[";
    char target[64];
    const ssize_t length = readlinkat(folder_fd, name, target, sizeof(target) - 1);
    const char *at = target + sizeof(start) - 1;

    if (length <= (ssize_t)sizeof(start)) {
        return false;
    }
    target[length] = '\0';
    return strncmp(target, start, sizeof(start) - 1) == 0 &&
           number_read(&at, 10, inode) == 0;
}

static int set_read(struct process_folder *folder, struct socket_set *set)
{
    const int fd = openat(folder->fd, "fd", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const struct dirent *entry;
    size_t seen = 0;
    int rc = 0;

    *set = (struct socket_set){.inodes = NULL};
    if (fd < 0) {
        return errno == ENOENT ? -ESRCH : -errno;
    }
    DIR *listing = fdopendir(fd);
    if (listing == NULL) {
        close(fd);
        return -ENOMEM;
    }
    set->inodes = malloc(MAX_SOCKETS * sizeof(*set->inodes));
    if (set->inodes == NULL) {
        rc = -ENOMEM;
    }
    while (rc == 0 && set->count < MAX_SOCKETS && seen++ < MAX_DESCRIPTORS &&
           (entry = readdir(listing)) != NULL) {
        set->count += socket_inode(fd, entry->d_name, &set->inodes[set->count]);
    }
    closedir(listing);
    if (rc == 0) {
        qsort(set->inodes, set->count, sizeof(*set->inodes), compare_inodes);
    }
    return rc;
}

/* The words of a line of net/unix that matter; path is NULL when it has none. */
struct unix_line {
    uint64_t flags;
    uint64_t inode;
    const char *path;
};

static const char *skip_word(const char *at)
{
    at += strcspn(at, " ");
    return at + strspn(at, " ");
}

/* "Num RefCount Protocol Flags Type St Inode Path" */
static bool parse_unix_line(const char *line, struct unix_line *out)
{
    const char *at = skip_word(skip_word(skip_word(line)));

    if (number_read(&at, 16, &out->flags) != 0) {
        return false;
    }
    at = skip_word(skip_word(skip_word(at)));
    if (number_read(&at, 10, &out->inode) != 0) {
        return false;
    }
    out->path = *at == ' ' && at[1] != '\0' && at[1] != '@' ? at + 1 : NULL;
    return true;
}

/* The X protocol has a socket of its own: "mysqlx.sock", "xplugin.sock". */
static bool is_other_protocol(const char *path)
{
    const char *slash = strrchr(path, '/');
    const char *name = slash != NULL ? slash + 1 : path;

    return strstr(name, "mysqlx") != NULL || strstr(name, "xplugin") != NULL;
}

static bool find_unix(
    struct buffer *text, const struct socket_set *set, struct mysql_endpoint *endpoint)
{
    char *cursor = text->data;
    struct unix_line line;
    const char *at;

    while ((at = text_line_next(&cursor, text->data + text->length_bytes)) != NULL) {
        if (!parse_unix_line(at, &line) || (line.flags & FLAG_LISTENS) == 0 ||
            line.path == NULL || strlen(line.path) >= sizeof(endpoint->path) ||
            is_other_protocol(line.path) || !set_has(set, line.inode)) {
            continue;
        }
        endpoint->local = true;
        (void)snprintf(endpoint->path, sizeof(endpoint->path), "%s", line.path);
        return true;
    }
    return false;
}

/* The words of a line of net/tcp or net/tcp6 that matter. */
struct tcp_line {
    char address[33];
    uint64_t port;
    uint64_t other_port;
    uint64_t state;
    uint64_t inode;
};

/* "sl local remote st tx:rx tr:when retrnsmt uid timeout inode" */
static bool parse_tcp_line(const char *line, struct tcp_line *out)
{
    const char *at = skip_word(line + strspn(line, " "));
    const size_t length = strcspn(at, ":");

    if (length >= sizeof(out->address) || at[length] != ':') {
        return false;
    }
    memcpy(out->address, at, length);
    out->address[length] = '\0';
    at += length + 1;
    if (number_read(&at, 16, &out->port) != 0) {
        return false;
    }
    at = skip_word(at);
    at += strcspn(at, ":");
    if (*at++ != ':' || number_read(&at, 16, &out->other_port) != 0 || *at++ != ' ' ||
        number_read(&at, 16, &out->state) != 0) {
        return false;
    }
    for (int i = 0; i < 6; i++) {
        at = skip_word(at);
    }
    return number_read(&at, 10, &out->inode) == 0;
}

/* The printed address to connect to; a wildcard is reached over loopback. */
static bool host_of(const char *hex, char host[MYSQL_HOST_BYTES])
{
    const size_t words = strlen(hex) / 8;
    uint32_t address[4] = {0};

    if (strlen(hex) != words * 8 || (words != 1 && words != 4)) {
        return false;
    }
    for (size_t i = 0; i < words; i++) {
        char word[9] = "";
        const char *at = word;
        uint64_t value;
        memcpy(word, hex + i * 8, 8);
        if (number_read(&at, 16, &value) != 0 || *at != '\0') {
            return false;
        }
        address[i] = (uint32_t)value; /* the kernel printed it in memory's order */
    }
    if ((address[0] | address[1] | address[2] | address[3]) == 0) {
        (void)snprintf(host, MYSQL_HOST_BYTES, "127.0.0.1");
        return true;
    }
    return inet_ntop(words == 1 ? AF_INET : AF_INET6, address, host, MYSQL_HOST_BYTES) !=
           NULL;
}

/* Finds the first line for which the port wanted (0: any listening) is held by the process. */
static bool find_tcp(struct buffer *text, const struct socket_set *set, uint64_t port,
    uint64_t other_port, struct tcp_line *line)
{
    char *cursor = text->data;
    const char *at;

    while ((at = text_line_next(&cursor, text->data + text->length_bytes)) != NULL) {
        if (!parse_tcp_line(at, line) || !set_has(set, line->inode)) {
            continue;
        }
        if (port == 0 && line->state == STATE_LISTEN && line->port != PORT_X_PROTOCOL &&
            line->port != PORT_ADMIN) {
            return true;
        }
        if (port != 0 && line->state != STATE_LISTEN && line->port == port &&
            line->other_port == other_port) {
            return true;
        }
    }
    return false;
}

static int search_tcp(struct process_folder *folder, const struct socket_set *set,
    uint64_t port, uint64_t other_port, struct tcp_line *line)
{
    static const char *const names[] = {"net/tcp", "net/tcp6"};
    struct buffer text;
    int rc = -ENOENT;

    buffer_init(&text);
    for (size_t i = 0; rc == -ENOENT && i < 2; i++) {
        if (process_folder_read(folder, names[i], MAX_NET_BYTES, &text) == 0 &&
            text.data != NULL && find_tcp(&text, set, port, other_port, line)) {
            rc = 0;
        }
    }
    buffer_release(&text);
    return rc;
}

/* Opens the file of the socket as the process sees it. */
static int open_socket_file(
    struct process_folder *folder, uint32_t user_id, struct mysql_endpoint *endpoint)
{
    struct open_how how = {.flags = O_PATH | O_CLOEXEC, .resolve = RESOLVE_IN_ROOT};
    struct stat status;
    const int top = openat(folder->fd, endpoint->path[0] == '/' ? "root" : "cwd",
        O_PATH | O_DIRECTORY | O_CLOEXEC);

    if (top < 0) {
        return -errno;
    }
    const long fd = syscall(SYS_openat2, top, endpoint->path, &how, sizeof(how));
    int rc = fd < 0 ? -errno : 0;
    close(top);
    if (rc != 0) {
        return rc;
    }
    if (fstat((int)fd, &status) != 0) {
        rc = -errno;
    } else if (!S_ISSOCK(status.st_mode)) {
        rc = -ENOTSOCK;
    } else if (status.st_uid != user_id && status.st_uid != 0) {
        rc = -EPERM;
    }
    if (rc != 0) {
        close((int)fd);
        return rc;
    }
    endpoint->socket_fd = (int)fd;
    return 0;
}

static int find_port(struct process_folder *folder, const struct socket_set *set,
    struct mysql_endpoint *endpoint)
{
    struct tcp_line line;
    const int rc = search_tcp(folder, set, 0, 0, &line);

    if (rc != 0) {
        return rc;
    }
    if (!process_folder_shares_network(folder)) {
        return -EREMOTE;
    }
    endpoint->local = false;
    endpoint->port = (uint16_t)line.port;
    return host_of(line.address, endpoint->host) ? 0 : -EINVAL;
}

static int find_with(struct process_folder *folder, const struct socket_set *set,
    uint32_t user_id, struct mysql_endpoint *endpoint)
{
    struct buffer text;
    int rc;
    bool found = false;

    buffer_init(&text);
    rc = process_folder_read(folder, "net/unix", MAX_NET_BYTES, &text);
    if (rc == 0 && text.data != NULL) {
        found = find_unix(&text, set, endpoint);
    }
    buffer_release(&text);
    if (found) {
        rc = open_socket_file(folder, user_id, endpoint);
        if (rc == 0) {
            return 0;
        }
    }
    const int port_rc = find_port(folder, set, endpoint);
    return port_rc == -ENOENT && found ? rc : port_rc;
}

int mysql_endpoint_find(
    struct process_folder *folder, uint32_t user_id, struct mysql_endpoint *endpoint)
{
    struct socket_set set;
    int rc = set_read(folder, &set);

    *endpoint = (struct mysql_endpoint){.socket_fd = -1};
    if (rc == 0) {
        rc = find_with(folder, &set, user_id, endpoint);
    }
    set_release(&set);
    return rc;
}

void mysql_endpoint_close(struct mysql_endpoint *endpoint)
{
    if (endpoint->socket_fd >= 0) {
        close(endpoint->socket_fd);
        endpoint->socket_fd = -1;
    }
}

static uint16_t own_port(int fd)
{
    union {
        struct sockaddr any;
        struct sockaddr_in in;
        struct sockaddr_in6 in6;
    } name = {.any = {.sa_family = AF_UNSPEC}};
    socklen_t bytes = sizeof(name);

    if (getsockname(fd, &name.any, &bytes) != 0) {
        return 0;
    }
    return ntohs(name.any.sa_family == AF_INET6 ? name.in6.sin6_port : name.in.sin_port);
}

int mysql_endpoint_check(
    struct process_folder *folder, const struct mysql_endpoint *endpoint, int fd)
{
    struct socket_set set;
    struct tcp_line line;
    struct ucred peer;
    socklen_t bytes = sizeof(peer);
    int rc;

    if (endpoint->local) {
        return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 &&
                       (peer.pid == folder->pid || (peer.pid == 1 && peer.uid == 0))
                   ? 0
                   : -EREMOTE;
    }
    rc = set_read(folder, &set);
    if (rc == 0) {
        rc = search_tcp(folder, &set, endpoint->port, own_port(fd), &line);
    }
    set_release(&set);
    return rc == 0 ? 0 : -EREMOTE;
}
