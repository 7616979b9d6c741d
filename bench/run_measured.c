/*
 * run_measured.c - runs a command and tells what it cost: time, processor time, peak memory.
 *
 * Usage: run_measured COMMAND [ARGUMENT...]. The last line of its output is
 * "measured NANOSECONDS CPU_MICROSECONDS PEAK_KIB STATUS"; what the command prints is dropped. A
 * program of its own because the kernel counts the memory of the process that called
 * exec into the peak of what it became (fs/exec.c: setmax_mm_hiwater_rss), and an
 * interpreter is larger than what is measured here.
 */
#include <fcntl.h>
#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { CANNOT_RUN = 127 };

static int64_t now_ns(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int64_t microseconds(const struct timeval *time)
{
    return (int64_t)time->tv_sec * 1000000 + time->tv_usec;
}

_Noreturn static void become(char **command)
{
    int nothing = open("/dev/null", O_WRONLY | O_CLOEXEC);

    if (nothing >= 0 && dup2(nothing, STDOUT_FILENO) >= 0) {
        (void)execvp(command[0], command);
    }
    _exit(CANNOT_RUN);
}

int main(int count, char **arguments)
{
    struct rusage usage = {0};
    int64_t start;
    int status;
    pid_t pid;

    if (count < 2) {
        (void)fprintf(stderr, "usage: run_measured COMMAND [ARGUMENT...]\n");
        return 2;
    }
    start = now_ns();
    pid = fork();
    if (pid == 0) {
        become(arguments + 1);
    }
    if (pid < 0 || wait4(pid, &status, 0, &usage) != pid) {
        perror("run_measured: cannot run the command");
        return 1;
    }
    printf("measured %" PRId64 " %" PRId64 " %ld %d\n", now_ns() - start,
        microseconds(&usage.ru_utime) + microseconds(&usage.ru_stime), usage.ru_maxrss,
        WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status));
    return 0;
}
