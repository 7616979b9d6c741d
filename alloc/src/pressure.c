/*
 * One epoll descriptor for all that can be watched:
 *
 * - version 2: memory.pressure with a trigger of 150 ms of stalls in 2 s, the shortest window
 *   without privileges (Documentation/accounting/psi.rst), and memory.events, which changes
 *   when memory.high is passed (Documentation/admin-guide/cgroup-v2.rst);
 * - version 1: memory.pressure_level, level low, and a threshold of usage at 15/16 of the
 *   limit, both by cgroup.event_control (Documentation/admin-guide/cgroup-v1/memory.rst).
 *
 * The descriptors must be safe from the program, which may close all it did not open, and
 * must not keep the program's own open. So the thread leaves the shared table:
 * close_range(2) with CLOSE_RANGE_UNSHARE makes an own one and empties it in one call. Its
 * standard error is opened anew for messages (proc(5), fd/2 of the process), if it can be.
 * Everything is edge-triggered; only memory.events has to be read to be told again, and once
 * before it is watched: a file that was never read counts as changed (kernfs_generic_poll()).
 */
#include "pressure.h"

#include <fcntl.h>
#include <stdint.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cgroup.h"
#include "text.h"

#define UNSHARE_TABLE 2U /* CLOSE_RANGE_UNSHARE of linux/close_range.h, kernel 5.9 */
#define TRIGGER "some 150000 2000000"
#define LINE_MAX 128
#define EVENTS_MAX 8
#define SHARE 16

static int open_in(const char *folder, const char *name, int flags)
{
    char path[STRATA__CGROUP_PATH_MAX];
    strata__cgroup_file(folder, name, path);
    return open(path, flags | O_CLOEXEC | O_NONBLOCK);
}

static int watch(int watcher, int file, uint32_t events)
{
    struct epoll_event event = {.events = events | EPOLLET, .data = {.fd = file}};
    return file >= 0 && epoll_ctl(watcher, EPOLL_CTL_ADD, file, &event) == 0;
}

/* Version 1: an event of `file`, as of the cgroup's documentation, on an eventfd. */
static int watch_control(int watcher, const char *folder, int file, const char *argument)
{
    char line[LINE_MAX];
    struct strata__text text;
    int event = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    int control = open_in(folder, "cgroup.event_control", O_WRONLY);
    int done = 0;
    if (event >= 0 && control >= 0 && file >= 0) {
        strata__text_init(&text, line, sizeof(line));
        strata__text_number(&text, (size_t)event);
        strata__text_add(&text, " ");
        strata__text_number(&text, (size_t)file);
        strata__text_add(&text, " ");
        strata__text_add(&text, argument);
        done = write(control, line, text.length) == (ssize_t)text.length &&
               watch(watcher, event, EPOLLIN);
    }
    if (control >= 0) {
        (void)close(control);
    }
    return done;
}

static int watch_first(int watcher, const char *system, const char *folder)
{
    char bytes[LINE_MAX];
    struct strata__text text;
    size_t limit = strata__cgroup_memory_limit(system);
    int watched = watch_control(
        watcher, folder, open_in(folder, "memory.pressure_level", O_RDONLY), "low");
    if (limit != 0) {
        strata__text_init(&text, bytes, sizeof(bytes));
        strata__text_number(&text, limit - limit / SHARE);
        watched |= watch_control(
            watcher, folder, open_in(folder, "memory.usage_in_bytes", O_RDONLY), bytes);
    }
    return watched;
}

static int watch_second(int watcher, const char *folder)
{
    char ignored[LINE_MAX];
    int stalls = open_in(folder, "memory.pressure", O_RDWR);
    int events = open_in(folder, "memory.events", O_RDONLY);
    int watched = stalls >= 0 &&
                  write(stalls, TRIGGER, sizeof(TRIGGER)) == (ssize_t)sizeof(TRIGGER) &&
                  watch(watcher, stalls, EPOLLPRI);
    (void)!pread(events, ignored, sizeof(ignored), 0);
    return watched | watch(watcher, events, EPOLLPRI);
}

int strata__pressure_open(const char *system)
{
    char folder[STRATA__CGROUP_PATH_MAX];
    int version = strata__cgroup_folder(system, STRATA__CGROUP_MEMORY, folder);
    if (version == 0 || syscall(SYS_close_range, 0U, ~0U, UNSHARE_TABLE) != 0) {
        return -1;
    }
    /* 0 to 2, so that nothing that is watched gets the number of standard error. */
    (void)open("/dev/null", O_RDWR);
    (void)open("/dev/null", O_RDWR);
    if (open("/proc/self/fd/2", O_WRONLY | O_APPEND | O_NOCTTY) < 0) {
        (void)open("/dev/null", O_RDWR);
    }
    int watcher = epoll_create1(EPOLL_CLOEXEC);
    int watched = watcher >= 0 && (version == 1 ? watch_first(watcher, system, folder)
                                                : watch_second(watcher, folder));
    return watched ? watcher : -1;
}

int strata__pressure_wait(int watcher, int milliseconds)
{
    struct epoll_event events[EVENTS_MAX];
    char ignored[LINE_MAX];
    int count = epoll_wait(watcher, events, EVENTS_MAX, milliseconds);
    for (int i = 0; i < count; i++) {
        (void)!pread(events[i].data.fd, ignored, sizeof(ignored), 0);
    }
    return count > 0;
}
