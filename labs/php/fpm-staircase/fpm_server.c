/*
 * Starts `php-fpm -n -F` with a configuration of its own and speaks FastCGI with it through
 * cgi-fcgi.
 *
 * The reply is there before the worker has put its heap in order, so a request counts as
 * over when the worker is in accept(2) again, as /proc/PID/syscall shows (fs/proc/base.c,
 * proc_pid_syscall()). The master is told to end when this process does, and takes its
 * worker with it.
 */
#include "fpm_server.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "child.h"

enum {
    WAIT_TRIES = 5000,
    WAIT_PAUSE_NS = 2000000,
    PATH_BYTES = LAB_PATH_BYTES + 32,
    LINE_BYTES = 128,
    EXEC_FAILED = 127,
};

static const char *const files[] = {"fpm.conf", "log", "page.php", "socket"};
enum { FILES = sizeof(files) / sizeof(files[0]) };

const char *fpm_server_program(void)
{
    const char *chosen = getenv("STRATA_PHP_FPM");
    return chosen != NULL && chosen[0] != '\0' ? chosen : "php-fpm8.2";
}

static void path_of(const struct fpm_server *server, const char *name, char *path)
{
    snprintf(path, PATH_BYTES, "%s/%s", server->folder, name);
}

__attribute__((format(printf, 3, 4))) static int write_file(
    const struct fpm_server *server, const char *name, const char *format, ...)
{
    char path[PATH_BYTES];
    va_list arguments;
    path_of(server, name, path);
    FILE *file = fopen(path, "we");
    if (file == NULL) {
        return -errno;
    }
    va_start(arguments, format);
    bool written = vfprintf(file, format, arguments) >= 0;
    va_end(arguments);
    written = fclose(file) == 0 && written;
    return written ? 0 : -EIO;
}

/* The worker may be another user's: the folder is open to all, the pool is root's if we are. */
static int write_files(struct fpm_server *server, const char *script)
{
    const char *folder = getenv("TMPDIR");
    snprintf(server->folder, sizeof(server->folder), "%s/strata-lab-XXXXXX",
        folder != NULL && folder[0] != '\0' ? folder : P_tmpdir);
    if (mkdtemp(server->folder) == NULL) {
        server->folder[0] = '\0';
        return -errno;
    }
    int error = write_file(server, "page.php", "%s", script);
    if (error != 0) {
        return error;
    }
    return write_file(server, "fpm.conf",
        "[global]\nerror_log = %s/log\n"
        "[lab]\n%slisten = %s/socket\npm = static\npm.max_children = 1\n"
        "php_admin_value[memory_limit] = -1\n",
        server->folder, getuid() == 0 ? "user = root\ngroup = root\n" : "",
        server->folder);
}

static _Noreturn void exec_master(const struct fpm_server *server)
{
    char configuration[PATH_BYTES];
    path_of(server, "fpm.conf", configuration);
    int nowhere = open("/dev/null", O_RDWR);
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    dup2(nowhere, STDIN_FILENO);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    execlp(fpm_server_program(), fpm_server_program(), "-n", "-R", "-F", "-y",
        configuration, (char *)NULL);
    _exit(EXEC_FAILED);
}

/* The number at the start of a file, or -1. */
static long read_number(const char *path)
{
    char text[LINE_BYTES] = "";
    char *end = text;
    int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0) {
        return -1;
    }
    ssize_t length = read(file, text, sizeof(text) - 1);
    close(file);
    long number = length > 0 ? strtol(text, &end, 10) : -1;
    return end != text ? number : -1;
}

/* "running" instead of a number while it does not sleep in a system call. */
static bool waits_for_request(pid_t worker)
{
    char path[LINE_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/syscall", (int)worker);
    return read_number(path) == SYS_accept;
}

/* The first child, or -1. */
static long child_of(pid_t parent)
{
    char path[LINE_BYTES];
    snprintf(path, sizeof(path), "/proc/%d/task/%d/children", (int)parent, (int)parent);
    return read_number(path);
}

static int wait_until_idle(pid_t worker)
{
    const struct timespec pause = {.tv_nsec = WAIT_PAUSE_NS};
    for (int tries = 0; tries < WAIT_TRIES; tries++) {
        if (waits_for_request(worker)) {
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return -ETIMEDOUT;
}

static int wait_until_ready(struct fpm_server *server)
{
    const struct timespec pause = {.tv_nsec = WAIT_PAUSE_NS};
    for (int tries = 0; tries < WAIT_TRIES; tries++) {
        int status = 0;
        if (waitpid(server->master, &status, WNOHANG) == server->master) {
            server->master = 0;
            return WIFEXITED(status) && WEXITSTATUS(status) == EXEC_FAILED ? -ENOENT
                                                                           : -EPROTO;
        }
        long worker = child_of(server->master);
        if (worker > 0 && waits_for_request((pid_t)worker)) {
            server->worker = (pid_t)worker;
            return 0;
        }
        nanosleep(&pause, NULL);
    }
    return -ETIMEDOUT;
}

int fpm_server_init(struct fpm_server *server, const char *script)
{
    *server = (struct fpm_server){0};
    int error = write_files(server, script);
    if (error == 0) {
        fflush(stdout);
        server->master = fork();
        if (server->master == 0) {
            exec_master(server);
        }
        error = server->master < 0 ? -errno : wait_until_ready(server);
    }
    if (error != 0) {
        fpm_server_release(server);
    }
    return error;
}

void fpm_server_release(struct fpm_server *server)
{
    char path[PATH_BYTES];
    if (server->master > 0) {
        kill(server->master, SIGTERM);
        waitpid(server->master, NULL, 0);
    }
    for (size_t i = 0; i < FILES && server->folder[0] != '\0'; i++) {
        path_of(server, files[i], path);
        unlink(path);
    }
    if (server->folder[0] != '\0') {
        rmdir(server->folder);
    }
    *server = (struct fpm_server){0};
}

int fpm_server_get(
    const struct fpm_server *server, const char *query, char *text, size_t text_bytes)
{
    char client[] = "cgi-fcgi";
    char bind[] = "-bind";
    char connect[] = "-connect";
    char socket[PATH_BYTES];
    char page[PATH_BYTES];
    path_of(server, "socket", socket);
    path_of(server, "page.php", page);
    setenv("REQUEST_METHOD", "GET", 1);
    setenv("QUERY_STRING", query, 1);
    setenv("SCRIPT_FILENAME", page, 1);
    char *arguments[] = {client, bind, connect, socket, NULL};
    struct child_job job = {.arguments = arguments,
        .input = "",
        .output = text,
        .output_capacity = text_bytes - 1};
    int error = child_run(&job);
    text[job.output_bytes] = '\0';
    if (error == 0 && job.exit_code != 0) {
        error = -EPROTO;
    }
    return error != 0 ? error : wait_until_idle(server->worker);
}
