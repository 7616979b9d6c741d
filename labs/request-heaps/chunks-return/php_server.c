/*
 * Starts `php -n -S 127.0.0.1:PORT SCRIPT` and speaks HTTP/1.0 with it.
 *
 * The port is one which the kernel had free a moment ago; the script is a file of its own
 * in the temporary directory, removed at the end. The child asks the kernel to be killed
 * when this process ends, so that no server is left behind.
 */
#include "php_server.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum {
    START_TRIES = 200,
    START_PAUSE_NS = 25000000,
    ADDRESS_BYTES = 32,
    LINE_BYTES = 128
};
enum { EXEC_FAILED = 127 };

static struct sockaddr_in loopback(uint16_t port)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

static int find_free_port(uint16_t *port)
{
    struct sockaddr_in address = loopback(0);
    socklen_t length = sizeof(address);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
        return -errno;
    }
    int error = 0;
    if (bind(file, (struct sockaddr *)&address, sizeof(address)) != 0 ||
        getsockname(file, (struct sockaddr *)&address, &length) != 0) {
        error = -errno;
    }
    close(file);
    *port = ntohs(address.sin_port);
    return error;
}

static int connect_to(const struct php_server *server)
{
    struct sockaddr_in address = loopback(server->port);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file < 0) {
        return -errno;
    }
    if (connect(file, (struct sockaddr *)&address, sizeof(address)) != 0) {
        int error = -errno;
        close(file);
        return error;
    }
    return file;
}

static _Noreturn void exec_server(const struct php_server *server, const char *php)
{
    char address[ADDRESS_BYTES];
    snprintf(address, sizeof(address), "127.0.0.1:%u", server->port);
    int nowhere = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execlp(php, php, "-n", "-d", "memory_limit=-1", "-S", address, server->script,
        (char *)NULL);
    _exit(EXEC_FAILED);
}

static int wait_until_ready(struct php_server *server)
{
    const struct timespec pause = {.tv_nsec = START_PAUSE_NS};
    for (int tries = 0; tries < START_TRIES; tries++) {
        int status = 0;
        if (waitpid(server->pid, &status, WNOHANG) == server->pid) {
            server->pid = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED ? -ENOENT
                                                                           : -EPROTO;
        }
        int file = connect_to(server);
        if (file >= 0) {
            close(file);
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return -ETIMEDOUT;
}

int php_server_init(struct php_server *server, const char *php, const char *script)
{
    *server = (struct php_server){0};
    int error = find_free_port(&server->port);
    if (error == 0) {
        error = lab_write_script(script, server->script);
    }
    if (error == 0) {
        fflush(stdout);
        server->pid = fork();
        if (server->pid == 0) {
            exec_server(server, php);
        }
        error = server->pid < 0 ? -errno : wait_until_ready(server);
    }
    if (error != 0) {
        php_server_release(server);
    }
    return error;
}

void php_server_release(struct php_server *server)
{
    if (server->pid > 0) {
        kill(server->pid, SIGTERM);
        waitpid(server->pid, NULL, 0);
    }
    if (server->script[0] != '\0') {
        unlink(server->script);
    }
    *server = (struct php_server){0};
}

int php_server_get(
    const struct php_server *server, const char *query, char *text, size_t text_bytes)
{
    char request[LINE_BYTES];
    size_t used = 0;
    text[0] = '\0';
    int file = connect_to(server);
    if (file < 0) {
        return file;
    }
    snprintf(request, sizeof(request), "GET /?%s HTTP/1.0\r\n\r\n", query);
    size_t length = strlen(request);
    int error = send(file, request, length, MSG_NOSIGNAL) == (ssize_t)length ? 0 : -EIO;
    while (error == 0 && used + 1 < text_bytes) {
        ssize_t got = read(file, text + used, text_bytes - used - 1);
        if (got <= 0) {
            error = got < 0 ? -errno : 0;
            break;
        }
        used += (size_t)got;
        text[used] = '\0';
    }
    close(file);
    return error;
}
