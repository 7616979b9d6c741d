/*
 * service.c - fork, exec, and the certainty that nothing is left behind.
 *
 * Three nets: the normal stop by pid; a process group for what a service forked; and
 * PR_SET_PDEATHSIG for when we are killed ourselves. A failed exec is told by a pipe that
 * closes on success.
 */
#include "trial/service.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"

enum {
    MOST_WORDS = 64,
    STOP_TRIES = 500,
    STOP_PAUSE_MS = 20,
    EXEC_FAILED = 127,
};

static volatile sig_atomic_t told_to_stop;

static void on_signal(int number)
{
    (void)number;
    told_to_stop = 1;
}

void service_catch_signals(void)
{
    struct sigaction action = {.sa_handler = on_signal};

    (void)sigaction(SIGINT, &action, NULL);
    (void)sigaction(SIGTERM, &action, NULL);
    (void)sigaction(SIGHUP, &action, NULL);
}

bool service_was_told_to_stop(void)
{
    return told_to_stop != 0;
}

int64_t service_now_ns(void)
{
    struct timespec time;

    (void)clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

void service_pause_ms(unsigned ms)
{
    const struct timespec pause = {
        .tv_sec = ms / 1000, .tv_nsec = (long)(ms % 1000) * 1000000};

    (void)nanosleep(&pause, NULL);
}

/* Words of text, which is changed. 0 or -E2BIG. */
static int split(char *text, char *words[MOST_WORDS + 1])
{
    size_t count = 0;
    char *rest = NULL;

    for (char *word = strtok_r(text, " ", &rest); word != NULL;
         word = strtok_r(NULL, " ", &rest)) {
        if (count == MOST_WORDS) {
            return -E2BIG;
        }
        words[count++] = word;
    }
    words[count] = NULL;
    return count == 0 ? -EINVAL : 0;
}

static void enter_cgroup(const char *procs)
{
    const int fd = open(procs, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || descriptor_write_all(fd, "0", 1) != 0) {
        _Exit(EXEC_FAILED);
    }
    (void)close(fd);
}

static _Noreturn void become(char **words, const char *log, const char *procs, int failed)
{
    const int nowhere = open("/dev/null", O_RDONLY);
    const int output = open(log, O_WRONLY | O_CREAT | O_APPEND, 0600);
    int code;

    (void)setpgid(0, 0);
    (void)prctl(PR_SET_PDEATHSIG, SIGTERM);
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)dup2(nowhere, STDIN_FILENO);
    (void)dup2(output, STDOUT_FILENO);
    (void)dup2(output, STDERR_FILENO);
    if (procs != NULL) {
        enter_cgroup(procs);
    }
    (void)execvp(words[0], words);
    code = errno;
    (void)descriptor_write_all(failed, &code, sizeof(code));
    _Exit(EXEC_FAILED);
}

/* Waits for exec: 0 when it happened, else its errno, negative. */
static int exec_answer(int pipe_end)
{
    int code = 0;
    const ssize_t bytes = descriptor_read(pipe_end, &code, sizeof(code));

    if (bytes == 0) {
        return 0;
    }
    return bytes == (ssize_t)sizeof(code) && code > 0 ? -code : -EIO;
}

int service_start(struct service *service, const char *command, const char *log,
    const char *procs, struct error *error)
{
    char *copy = strdup(command);
    char *words[MOST_WORDS + 1];
    int ends[2] = {-1, -1};
    int rc = copy == NULL ? -ENOMEM : split(copy, words);

    service->pid = 0;
    service->ended = false;
    if (rc == 0 && pipe2(ends, O_CLOEXEC) != 0) {
        rc = -errno;
    }
    if (rc == 0) {
        service->pid = fork();
        if (service->pid == 0) {
            become(words, log, procs, ends[1]);
        }
        rc = service->pid < 0 ? -errno : 0;
        (void)close(ends[1]);
        if (rc == 0) {
            rc = exec_answer(ends[0]);
        }
        (void)close(ends[0]);
    }
    if (rc != 0) {
        (void)error_set(error, rc, "cannot start '%s': %s",
            copy != NULL ? words[0] : command, strerror(-rc));
        if (service->pid > 0) {
            (void)waitpid(service->pid, NULL, 0);
        }
        service->pid = 0;
    }
    free(copy);
    return rc;
}

bool service_is_alive(struct service *service)
{
    if (service->pid <= 0) {
        return false;
    }
    if (waitpid(service->pid, &service->status, WNOHANG) == service->pid) {
        (void)kill(-service->pid, SIGKILL); /* what it left behind in its group */
        service->pid = 0;
        service->ended = true;
        return false;
    }
    return true;
}

void service_stop(struct service *service)
{
    if (service->pid <= 0) {
        return;
    }
    (void)kill(service->pid, service->stop_signal != 0 ? service->stop_signal : SIGTERM);
    for (int i = 0; i < STOP_TRIES && service_is_alive(service); i++) {
        service_pause_ms(STOP_PAUSE_MS);
    }
    if (service->pid > 0) {
        (void)kill(-service->pid, SIGKILL);
        (void)waitpid(service->pid, &service->status, 0);
        service->pid = 0;
    }
}

int service_run(
    const char *command, const char *log, unsigned seconds, struct error *error)
{
    struct service service = {.stop_signal = SIGKILL};
    const int64_t end = service_now_ns() + seconds * INT64_C(1000000000);
    int rc = service_start(&service, command, log, NULL, error);

    if (rc != 0) {
        return rc;
    }
    while (service_is_alive(&service)) {
        if (service_now_ns() > end || service_was_told_to_stop()) {
            service_stop(&service);
            return error_set(error, -ETIMEDOUT, "'%s' did not end in time", command);
        }
        service_pause_ms(STOP_PAUSE_MS);
    }
    return WIFEXITED(service.status) ? WEXITSTATUS(service.status) : -EINTR;
}
