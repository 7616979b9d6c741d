/*
 * input_file.c - what kind of file it is decides before anything is read.
 *
 * open(2) of a named pipe waits for a writer, so it is opened with O_NONBLOCK, which a regular
 * file does not care for. A pipe of pipe(2) lies in pipefs (magic.h), a named one in the file
 * system of its folder.
 */
#include "base/input_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>

static const char *kind_of(mode_t mode)
{
    switch (mode & S_IFMT) {
    case S_IFDIR:
        return "it is a folder";
    case S_IFIFO:
        return "it is a named pipe, and only a file or - (standard input) can be read";
    case S_IFSOCK:
        return "it is a socket";
    default:
        return "it is a device";
    }
}

static int refuse(mode_t mode, const char **why)
{
    *why = kind_of(mode);
    return S_ISDIR(mode) ? -EISDIR : -EINVAL;
}

static int fail(int code, const char **why)
{
    *why = strerror(code);
    return -code;
}

int input_file_check(const char *path, const char **why)
{
    struct stat status;

    if (stat(path, &status) != 0) {
        return fail(errno, why);
    }
    return S_ISREG(status.st_mode) ? 0 : refuse(status.st_mode, why);
}

int input_file_accept(int fd, const char **why)
{
    struct stat status;
    struct statfs system;

    if (fstat(fd, &status) != 0 || fstatfs(fd, &system) != 0) {
        return fail(errno, why);
    }
    if (S_ISREG(status.st_mode)) {
        return 0;
    }
    if (!S_ISFIFO(status.st_mode) || system.f_type != PIPEFS_MAGIC) {
        return refuse(status.st_mode, why);
    }
    const int flags = fcntl(fd, F_GETFL);
    return flags < 0 || fcntl(fd, F_SETFL, flags & ~O_NONBLOCK) != 0 ? fail(errno, why)
                                                                     : 0;
}
