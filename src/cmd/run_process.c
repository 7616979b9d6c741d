/*
 * run_process.c - what stands between a terminal and a command that is run for somebody.
 *
 * The child stays in our process group, so keys of the terminal reach it by themselves:
 * such a signal comes from the kernel and is not passed on a second time (sigaction(2),
 * SI_KERNEL). All signals that are passed on are blocked here and read from a signalfd;
 * the child begins with the mask and the dispositions that we were started with.
 *
 * A descriptor that is closed by exec tells why exec failed. Another, of a socket pair, is
 * for the library's greeting: it waits for our answer, so the region of even the shortest
 * program is attached before it can go.
 */
#include "cmd/run_process.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"

enum { LOOK_MS = 200, NUMBER_BYTES = 16 };

static const int passed_signals[] = {SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1, SIGUSR2,
    SIGALRM, SIGCONT, SIGWINCH, SIGIO, SIGPWR};

struct ends {
    int failure[2];  /* exec's errno; the child's end is closed by exec */
    int greeting[2]; /* -1: none */
    int signals;
    sigset_t mask; /* before */
};

static uint64_t now_us(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000 + (uint64_t)now.tv_nsec / 1000;
}

static void close_end(int *end)
{
    if (*end >= 0) {
        (void)close(*end);
    }
    *end = -1;
}

static void ends_release(struct ends *ends)
{
    close_end(&ends->failure[0]);
    close_end(&ends->failure[1]);
    close_end(&ends->greeting[0]);
    close_end(&ends->greeting[1]);
    close_end(&ends->signals);
    (void)sigprocmask(SIG_SETMASK, &ends->mask, NULL);
}

static int ends_open(struct ends *ends, bool greet)
{
    sigset_t set;

    *ends = (struct ends){.failure = {-1, -1}, .greeting = {-1, -1}, .signals = -1};
    (void)sigemptyset(&set);
    (void)sigaddset(&set, SIGCHLD);
    for (size_t i = 0; i < sizeof(passed_signals) / sizeof(passed_signals[0]); i++) {
        (void)sigaddset(&set, passed_signals[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &set, &ends->mask);
    ends->signals = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (ends->signals < 0 || pipe2(ends->failure, O_CLOEXEC) != 0 ||
        (greet &&
            socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends->greeting) != 0)) {
        int rc = -errno;
        ends_release(ends);
        return rc;
    }
    return 0;
}

/* In the child. Does not return. */
static void become(char *const *command, const struct ends *ends)
{
    char number[NUMBER_BYTES];

    if (ends->greeting[1] >= 0) {
        (void)snprintf(number, sizeof(number), "%d", ends->greeting[1]);
        (void)setenv("STRATA_RUN_FD", number, 1);
        (void)fcntl(ends->greeting[1], F_SETFD, 0);
    }
    /* main.c ignores these; a command expects them as usual. */
    (void)signal(SIGPIPE, SIG_DFL);
    (void)signal(SIGXFSZ, SIG_DFL);
    (void)sigprocmask(SIG_SETMASK, &ends->mask, NULL);
    (void)execvp(command[0], command);
    int failed = errno;
    (void)descriptor_write_all(ends->failure[1], &failed, sizeof(failed));
    _exit(EXIT_FAILURE);
}

static void pass_signals(int signals, pid_t child)
{
    struct signalfd_siginfo info;

    while (read(signals, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        bool from_terminal = info.ssi_code == SI_KERNEL;
        if (info.ssi_signo != SIGCHLD && !from_terminal) {
            (void)kill(child, (int)info.ssi_signo);
        }
    }
}

/* The library says hello: its region is there. Answered even if it is not, or it waits. */
static void answer(struct run_process *process, struct ends *ends)
{
    char byte = 0;

    if (read(ends->greeting[0], &byte, 1) == 1) {
        process->greeting = byte;
        child_region_look(&process->figures, process->pid);
        (void)send(ends->greeting[0], &byte, 1, MSG_NOSIGNAL);
    }
    close_end(&ends->greeting[0]);
}

static void wait_for(struct run_process *process, struct ends *ends)
{
    pid_t ended = 0;

    while (
        (ended = wait4(process->pid, &process->status, WNOHANG, &process->usage)) == 0 ||
        (ended < 0 && errno == EINTR)) {
        struct pollfd polled[] = {{.fd = ends->signals, .events = POLLIN},
            {.fd = ends->greeting[0], .events = POLLIN}};
        if (poll(polled, 2, LOOK_MS) == 0) {
            child_region_look(&process->figures, process->pid); /* after another exec */
        }
        if (polled[1].revents != 0) {
            answer(process, ends);
        }
        pass_signals(ends->signals, process->pid);
    }
}

int run_process(char *const *command, bool greet, struct run_process *process)
{
    struct ends ends;
    int failed = 0;

    *process = (struct run_process){.pid = -1};
    int rc = ends_open(&ends, greet);
    if (rc != 0) {
        return rc;
    }
    uint64_t start_us = now_us();
    process->pid = fork();
    if (process->pid == 0) {
        become(command, &ends);
    }
    rc = process->pid < 0 ? -errno : 0;
    if (rc == 0) {
        close_end(&ends.failure[1]);
        close_end(&ends.greeting[1]);
        wait_for(process, &ends);
        process->microseconds = now_us() - start_us;
        if (descriptor_read(ends.failure[0], &failed, sizeof(failed)) ==
            (ssize_t)sizeof(failed)) {
            rc = -failed;
        }
    }
    ends_release(&ends);
    return rc;
}
