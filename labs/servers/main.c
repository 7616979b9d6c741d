/*
 * main.c - model-server MODEL PORT WORKERS WAIT_MS: a server in the shape of a known one.
 *
 * These are models: they show what the shape costs in memory and requests, on the request
 * heaps, with the same work; they say nothing of how fast PHP is.
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "http.h"
#include "models.h"

enum { PORT_MOST = 65535, WORKERS_MOST = 256, WAIT_MOST_MS = 10000 };

int model_fork(void)
{
    const pid_t parent = getpid();
    const pid_t child = fork();

    if (child < 0) {
        (void)fprintf(stderr, "model-server: cannot fork: %s\n", strerror(errno));
    }
    if (child == 0) {
        (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) {
            _exit(1);
        }
    }
    return child;
}

void model_wait(unsigned wait_ms)
{
    const struct timespec pause = {
        .tv_sec = wait_ms / 1000, .tv_nsec = (long)(wait_ms % 1000) * 1000000};

    if (wait_ms > 0) {
        (void)nanosleep(&pause, NULL);
    }
}

int model_watch(void)
{
    int status;

    while (wait(&status) > 0) {
        (void)fprintf(stderr, "model-server: a worker ended\n");
    }
    return 0;
}

int model_serve(const struct model_options *options, bool nonblocking,
    void (*work)(int listener, unsigned wait_ms))
{
    const int listener = http_listen(options->port, nonblocking);

    if (listener < 0) {
        (void)fprintf(stderr, "model-server: cannot listen: %s\n", strerror(errno));
        return -1;
    }
    for (unsigned i = 0; i < options->workers; i++) {
        const int child = model_fork();
        if (child == 0) {
            work(listener, options->wait_ms);
            _exit(1);
        }
        if (child < 0) {
            return -1;
        }
    }
    return model_watch();
}

static unsigned number(const char *text, unsigned least, unsigned most)
{
    char *end;
    const unsigned long value = strtoul(text, &end, 10);

    if (*text == '\0' || *end != '\0' || value < least || value > most) {
        (void)fprintf(
            stderr, "model-server: '%s' is no number from %u to %u\n", text, least, most);
        exit(2);
    }
    return (unsigned)value;
}

int main(int argc, char **argv)
{
    if (argc != 5) {
        (void)fprintf(stderr,
            "usage: model-server prefork|event|supervisor PORT WORKERS WAIT_MS\n");
        return 2;
    }
    const struct model_options options = {.port = number(argv[2], 1, PORT_MOST),
        .workers = number(argv[3], 1, WORKERS_MOST),
        .wait_ms = number(argv[4], 0, WAIT_MOST_MS)};
    if (strcmp(argv[1], "prefork") == 0) {
        return model_prefork(&options) == 0 ? 0 : 1;
    }
    if (strcmp(argv[1], "event") == 0) {
        return model_event(&options) == 0 ? 0 : 1;
    }
    if (strcmp(argv[1], "supervisor") == 0) {
        return model_supervisor(&options) == 0 ? 0 : 1;
    }
    (void)fprintf(stderr, "model-server: no model '%s'\n", argv[1]);
    return 2;
}
