/*
 * held_read.c - a library for LD_PRELOAD that makes one process slow to read, until told.
 *
 *   HELD_FILE=/proc/PID/smaps HELD_FOLDER=FOLDER LD_PRELOAD=... PROGRAM
 *
 * The first thread of PROGRAM that opens HELD_FILE relative to its folder makes the file
 * FOLDER/held and goes on when somebody has opened the FIFO FOLDER/go for writing. So a test
 * knows that the reading has begun and has not ended, on a machine of any speed. FOLDER/undone
 * is made when destructors of libraries are called, as exit(3) does and _exit(2) does not.
 */
#include <dlfcn.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static atomic_bool done;

typedef int open_function(int folder, const char *path, int flags, ...);

static int open_next(int folder, const char *path, int flags, mode_t mode)
{
    void *symbol = dlsym(RTLD_NEXT, "openat");
    open_function *next;

    memcpy(&next, &symbol, sizeof(next));
    return next(folder, path, flags, mode);
}

static bool is_held(int folder, const char *name)
{
    const char *file = getenv("HELD_FILE");
    char link[64];
    char path[PATH_MAX];

    (void)snprintf(link, sizeof(link), "/proc/self/fd/%d", folder);
    ssize_t bytes = file != NULL ? readlink(link, path, sizeof(path) - 1) : 0;
    if (bytes <= 0) {
        return false;
    }
    path[bytes] = '\0';
    const size_t length = strlen(path);
    return strncmp(file, path, length) == 0 && file[length] == '/' &&
           strcmp(file + length + 1, name) == 0;
}

static void make_file(const char *folder, const char *name)
{
    char path[PATH_MAX];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    (void)close(open_next(AT_FDCWD, path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

__attribute__((destructor)) static void tell_destruction(void)
{
    const char *folder = getenv("HELD_FOLDER");

    if (folder != NULL) {
        make_file(folder, "undone");
    }
}

static void wait_in(const char *folder)
{
    char path[PATH_MAX];

    make_file(folder, "held");
    (void)snprintf(path, sizeof(path), "%s/go", folder);
    (void)close(open_next(AT_FDCWD, path, O_RDONLY | O_CLOEXEC, 0));
}

/* NOLINTNEXTLINE(readability-inconsistent-declaration-parameter-name) */
int openat(int folder, const char *path, int flags, ...)
{
    const char *place = getenv("HELD_FOLDER");
    va_list arguments;

    va_start(arguments, flags);
    const mode_t mode =
        (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(arguments, int) : 0;
    va_end(arguments);
    if (place != NULL && is_held(folder, path) && !atomic_exchange(&done, true)) {
        wait_in(place);
    }
    return open_next(folder, path, flags, mode);
}
