/*
 * told_waits.c - a library for LD_PRELOAD that tells how long a program is ready to wait.
 *
 *   WAITS_FILE=FILE LD_PRELOAD=... PROGRAM
 *
 * Each poll(2) of PROGRAM and its children adds a line with its milliseconds to FILE. So a
 * test learns of limits of time without a clock of its own.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static void tell(int milliseconds)
{
    const char *file = getenv("WAITS_FILE");
    const int fd =
        file != NULL ? open(file, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666) : -1;

    if (fd >= 0) {
        (void)dprintf(fd, "%d\n", milliseconds);
        (void)close(fd);
    }
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int poll(struct pollfd *wanted, nfds_t count, int milliseconds)
{
    enum { MS_PER_SECOND = 1000, NS_PER_MS = 1000000 };
    const struct timespec pause = {.tv_sec = milliseconds / MS_PER_SECOND,
        .tv_nsec = (long)(milliseconds % MS_PER_SECOND) * NS_PER_MS};

    tell(milliseconds);
    return ppoll(wanted, count, milliseconds < 0 ? NULL : &pause, NULL);
}
